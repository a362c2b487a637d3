import {
  encodeFunctionData,
  getContractAddress,
  type Hex,
  multicall3Abi,
  parseErc6492Signature,
  serializeErc6492Signature,
} from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { beforeAll, describe, expect, it } from 'vitest';
import { networks } from '../../schema/network.ts';
import { registrationOf } from '../harness/buyer.ts';
import { openService, REGISTER, type RegistrationAnswer, type Service } from '../harness/doors/open-service.ts';
import { type ContractWallet, openWallets, SPONSOR, type TestWallets } from '../harness/wallets.ts';

/** Address of the first contract of these tests, which the service needs at its start. */
const FACTORY = getContractAddress({ from: privateKeyToAddress(SPONSOR), nonce: 0n });

let service: Service;
let wallets: TestWallets;
let delegate: Hex;
beforeAll(async () => {
  service = await openService({ WALLET_FACTORIES: FACTORY });
  wallets = openWallets(service.chain);
  expect((await wallets.deploy('WalletFactory')).toLowerCase()).toBe(FACTORY.toLowerCase());
  delegate = await wallets.deploy('Delegate');
});

type Signer = Pick<ContractWallet, 'signMessage'>;
const kinds: [title: string, make: () => Promise<ContractWallet>][] = [
  ["a contract that takes its owner's 65 bytes", () => wallets.plain()],
  ['a contract that takes 66 bytes', () => wallets.tagged()],
  ['a contract that is still to be made (ERC-6492)', () => wallets.unmade(FACTORY)],
  ['a key that has delegated to a contract (EIP-7702)', () => wallets.delegated(delegate)],
];

/** The wallet, but another key signs everything except for its payments. */
const signedBy = (wallet: ContractWallet, { signMessage }: Signer): ContractWallet => ({ ...wallet, signMessage });
const pay = async (wallet: ContractWallet, by: Signer = wallet) =>
  service.post<RegistrationAnswer>(
    REGISTER,
    await registrationOf(signedBy(wallet, by)),
    await service.payment(wallet, REGISTER),
  );
const byReceipt = async (wallet: ContractWallet, task_id: string) =>
  service.post<RegistrationAnswer>(REGISTER, await registrationOf(wallet, { task_id }));
const statusAndCode = ({ status, body }: { status: number; body: object }) => ({
  status,
  code: 'code' in body && body.code,
});
const invalid = { status: 401, code: 'control_proof_invalid' };

describe.each(kinds)('the wallet is %s', (_, make) => {
  it('200 by the stamp, which it pays itself, and it recovers', async () => {
    const wallet = await make();
    const { status, body } = await pay(wallet);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { agentWallet: wallet.address, settlement_status: 'settled' },
    });
    expect(await service.transfersFrom(wallet)).toHaveLength(1);
    const recovered = await byReceipt(wallet, body.task_id);
    expect(recovered).toMatchObject({ status: 200, body: { agent_id: body.agent_id, idempotent_replay: true } });
  });

  it('200 by the receipt of a call that it has paid for', async () => {
    const wallet = await make();
    const { task_id } = (await service.buy(wallet)).body.svc;
    expect(await byReceipt(wallet, task_id)).toMatchObject({
      status: 200,
      body: { agentWallet: wallet.address, settlement_status: 'settled', idempotent_replay: false },
    });
    expect(await service.transfersFrom(wallet)).toHaveLength(1);
  });

  it('401 on the word of another wallet of its kind: nothing is charged', async () => {
    const [wallet, other] = [await make(), await make()];
    expect(statusAndCode(await pay(wallet, other))).toEqual(invalid);
    expect(await service.transfersFrom(wallet)).toEqual([]);
  });
});

it('401 where another factory than the allowed one is to make the wallet, though it would make that very one', async () => {
  const wallet = await wallets.unmade(FACTORY);
  const wrapped = parseErc6492Signature(await wallet.signMessage({ message: 'any' }));
  const call = { target: FACTORY, allowFailure: false, callData: wrapped.data ?? '0x' };
  const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [[call]] });
  const elsewhere: Signer = {
    async signMessage(text) {
      const { signature } = parseErc6492Signature(await wallet.signMessage(text));
      return serializeErc6492Signature({ address: networks.base.multicall3, data, signature });
    },
  };
  expect(statusAndCode(await pay(wallet, elsewhere))).toEqual(invalid);
  expect(await service.transfersFrom(wallet)).toEqual([]);
  expect((await pay(wallet)).status).toBe(200);
});

describe('code alone speaks for its address', () => {
  it('401 where the owner signs as a key would, and the code wants it otherwise', async () => {
    for (const wallet of [await wallets.tagged(), await wallets.delegated(delegate)]) {
      expect(statusAndCode(await pay(wallet, wallet.owner))).toEqual(invalid);
      expect(await service.transfersFrom(wallet)).toEqual([]);
    }
  });

  it('401 where the code takes its owner for its own no more', async () => {
    const wallet = await wallets.plain();
    const { task_id } = (await service.buy(wallet)).body.svc;
    await wallets.switchOff(wallet);
    expect(statusAndCode(await byReceipt(wallet, task_id))).toEqual(invalid);
  });

  it('403 where it has no receipt: its code, which burns all the gas that it is given, is not asked', async () => {
    const wallet = await wallets.of('OpenBurner');
    const refused = await service.post(REGISTER, await registrationOf(wallet, { task_id: 'task_any' }));
    expect(statusAndCode(refused)).toEqual({ status: 403, code: 'receipt_not_qualifying' });
  });

  it("403 where the owner's key pays for the wallet that it owns: the payer is another", async () => {
    const wallet = await wallets.plain();
    await service.chain.mint(wallet.owner.address, 1_000_000n);
    const payment = await service.payment(wallet.owner, REGISTER);
    const refused = await service.post(REGISTER, await registrationOf(wallet), payment);
    expect(statusAndCode(refused)).toEqual({ status: 403, code: 'payer_mismatch' });
    expect(await service.transfersFrom(wallet.owner)).toEqual([]);
  });
});
