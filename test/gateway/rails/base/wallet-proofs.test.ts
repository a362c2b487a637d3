import { type Hex, hashMessage, serializeErc6492Signature } from 'viem';
import { beforeAll, describe, expect, it } from 'vitest';
import type { BaseChain } from '../../../../gateway/rails/base/chain.ts';
import { VALID_SIGNATURE } from '../../../../gateway/rails/base/contracts.ts';
import { openBase } from '../../../../gateway/rails/base/open-base.ts';
import { openWalletProofs } from '../../../../gateway/rails/base/wallets.ts';
import { limits } from '../../../../schema/limits.ts';
import { type WalletProofs } from '../../../../subgraphs/wallet-proofs.ts';
import { highS, newAccount } from '../../../harness/base/wallet.ts';
import { freshChain, type TestChain } from '../../../harness/chain.ts';
import { atEnd } from '../../../harness/release.ts';
import { type ContractWallet, openWallets, type TestWallets, tagged } from '../../../harness/wallets.ts';

let chain: TestChain;
let wallets: TestWallets;
let proofs: { verifies(wallet: string, digest: Uint8Array, signature: string): ReturnType<WalletProofs['verifies']> };
beforeAll(async () => {
  chain = await freshChain();
  wallets = openWallets(chain);
  const base = openBase({ rpc_url: chain.rpc_url });
  atEnd(() => base.close());
  const asked = openWalletProofs(base);
  proofs = { verifies: (wallet, digest, signature) => asked.verifies(wallet, digest, signature, '127.0.0.1') };
});

const TEXT = 'svc.register.pay|0x0000000000000000000000000000000000000000|1790000000';
const digest = hashMessage(TEXT, 'bytes');
const other = hashMessage('another text', 'bytes');
type Signer = Pick<ContractWallet, 'address' | 'signMessage'>;
const sign = (signer: Signer) => signer.signMessage({ message: TEXT });

describe('a control proof', () => {
  it('of a key is valid for its own address and text, and for no other', async () => {
    const account = newAccount();
    const signature = await sign(account);
    expect(await proofs.verifies(account.address, digest, signature)).toBe('valid');
    expect(await proofs.verifies(account.address.toLowerCase(), digest, signature)).toBe('valid');
    expect(await proofs.verifies(account.address, other, signature)).toBe('invalid');
    expect(await proofs.verifies(newAccount().address, digest, signature)).toBe('invalid');
  });

  it.each([
    ['with high s', (it: Hex) => highS(it)],
    ['with an unknown v', (it: Hex) => `${it.slice(0, 130)}1d`],
    ['of 64 bytes', (it: Hex) => it.slice(0, 130)],
    ['of 66 bytes', (it: Hex) => `${it}00`],
    ['of one byte', () => '0x00'],
    ['of zeros', () => `0x${'00'.repeat(65)}`],
    ['of the magic bytes of ERC-6492 alone', () => `0x${'6492'.repeat(16)}`],
  ])('of a key, %s, is invalid', async (_, change) => {
    const account = newAccount();
    expect(await proofs.verifies(account.address, digest, change(await sign(account)))).toBe('invalid');
  });

  it('of a contract is valid by its code alone, of 65 bytes and of 66', async () => {
    for (const wallet of [await wallets.plain(0n), await wallets.tagged(0n)]) {
      const signature = await sign(wallet);
      expect(await proofs.verifies(wallet.address, digest, signature)).toBe('valid');
      expect(await proofs.verifies(wallet.address, other, signature)).toBe('invalid');
      // The owner's address is the owner's; the wallet speaks for itself alone.
      expect(await proofs.verifies(wallet.owner.address, digest, signature)).toBe(
        signature.length === 132 ? 'valid' : 'invalid',
      );
      await wallets.switchOff(wallet);
      expect(await proofs.verifies(wallet.address, digest, signature)).toBe('invalid');
    }
  });

  it('of a wallet that is still to be made is valid by any factory, and nothing is made by asking', async () => {
    const wallet = await wallets.unmade(await wallets.deploy('WalletFactory'), 0n);
    const signature = await sign(wallet);
    expect(await proofs.verifies(wallet.address, digest, signature)).toBe('valid');
    expect(await proofs.verifies(wallet.address, other, signature)).toBe('invalid');
    expect(await proofs.verifies(newAccount().address, digest, signature)).toBe('invalid');
    expect(await wallets.codeAt(wallet.address)).toBe('0x');
  });

  it('of a wallet made since it was signed is valid: what is wrapped is asked, and no factory', async () => {
    const wallet = await wallets.tagged(0n);
    const nowhere = { address: newAccount().address, data: '0x00' } as const;
    const wrapped = serializeErc6492Signature({ ...nowhere, signature: await sign(wallet) });
    expect(await proofs.verifies(wallet.address, digest, wrapped)).toBe('valid');
  });

  it("of a delegated account (EIP-7702) is for its code: its key's own signature is not enough", async () => {
    const owner = newAccount();
    const account = await wallets.delegated(await wallets.deploy('Delegate'), owner, 0n);
    const bare = await sign(owner);
    expect(await proofs.verifies(account.address, digest, tagged(bare))).toBe('valid');
    expect(await proofs.verifies(account.address, digest, bare)).toBe('invalid');
  });

  it.each(['0x0000000000000000000000000000000000000001', '0x0000000000000000000000000000000000000004'])(
    "is no precompile's to give: %s, which may answer with what it was asked",
    async precompile => {
      const factory = { address: await wallets.deploy('WalletFactory'), data: '0x00' } as const;
      const signature = await sign(newAccount());
      expect(await proofs.verifies(precompile, digest, signature)).toBe('invalid');
      const wrapped = serializeErc6492Signature({ ...factory, signature });
      expect(await proofs.verifies(precompile, digest, wrapped)).toBe('invalid');
    },
  );

  it('of code that burns its gas is invalid, and of code that talks without end nothing is believed', async () => {
    const [burner, talker] = [await wallets.of('OpenBurner'), await wallets.of('Talker')];
    expect(await proofs.verifies(burner.address, digest, await sign(burner))).toBe('invalid');
    expect(await proofs.verifies(talker.address, digest, await sign(talker))).not.toBe('valid');
  });

  it('of a wallet that is still to be made by a factory that is not allowed is invalid: that factory is not asked', async () => {
    const base = openBase({ rpc_url: chain.rpc_url });
    atEnd(() => base.close());
    let simulated = 0;
    const watched: Pick<BaseChain, 'code' | 'simulate'> = {
      code: address => base.code(address),
      simulate: (...asked) => {
        simulated++;
        return base.simulate(...asked);
      },
    };
    const [ours, others] = [await wallets.deploy('WalletFactory'), await wallets.deploy('WalletFactory')];
    const allowed = openWalletProofs(watched, new Set([ours.toLowerCase()]));
    const proofOf = async (wallet: ContractWallet) => allowed.verifies(wallet.address, digest, await sign(wallet), 'a');
    expect(await proofOf(await wallets.unmade(others, 0n))).toBe('invalid');
    expect(simulated).toBe(0);
    expect(await proofOf(await wallets.unmade(ours, 0n))).toBe('valid');
    expect(simulated).toBe(1);
  });

  it('has few turns: more from one address are sent away, and another address is asked about in its turn', async () => {
    const silent = Promise.withResolvers<{ kind: 'ok'; value: Hex }>();
    let underway = 0;
    const stalled = openWalletProofs({
      code: async () => ({ kind: 'ok', value: '0x60' }),
      simulate: () => {
        underway++;
        return silent.promise;
      },
    });
    const ask = (asker: string) => stalled.verifies(newAccount().address, digest, '0x00', asker);
    const { unproven_turns_at_once_max: at_once, unproven_waiting_per_address_max: waiting } = limits;
    const held = Array.from({ length: at_once + waiting }, () => ask('greedy'));
    await expect.poll(() => underway).toBe(at_once);
    expect(await ask('greedy')).toBe('no_turn');
    const other = ask('modest');
    silent.resolve({ kind: 'ok', value: VALID_SIGNATURE });
    expect(await other).toBe('valid');
    await Promise.all(held);
  });

  it('is unreachable where the chain is', async () => {
    const away = openBase({ rpc_url: 'http://127.0.0.1:9' });
    const account = newAccount();
    expect(await openWalletProofs(away).verifies(account.address, digest, await sign(account), '')).toBe('unreachable');
    await away.close();
  });
});
