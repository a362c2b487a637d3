import { beforeEach, describe, expect, it } from 'vitest';
import { paymentCalls } from '../../../../gateway/rails/base/contracts.ts';
import type { SettleItem } from '../../../../gateway/rails/base/settle/batch.ts';
import { type ContractSignature, signatureOnWire } from '../../../../gateway/rails/base/signature.ts';
import { type WalletTakes, walletTakes } from '../../../../gateway/rails/base/wallets.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { type BaseGround, openBaseGround } from '../../../harness/base/ground.ts';
import { openWallets, type TestWallets } from '../../../harness/wallets.ts';

/* A payment whose simulation fails for what happened after its payer was last looked at. */

let ground: BaseGround;
let wallets: TestWallets;
beforeEach(async () => {
  ground = await openBaseGround();
  wallets = openWallets(ground.chain);
});

/** No claim of the payer's was ever reverted. */
const database = { query: async () => [] } as unknown as Database;

function takes({ authorization, signature }: SettleItem): Promise<WalletTakes> {
  const asking = { database, chain: ground.base, settles_from: ground.pay_to };
  return walletTakes(asking, authorization, signature as ContractSignature);
}

const NOT_SIGNED = { kind: 'rejected', reason: 'invalid_exact_evm_payload_signature' };

describe("a contract wallet's payment", () => {
  it('is taken, though who simulates it has no gas', async () => {
    expect(await takes(await ground.payment(await wallets.plain()))).toEqual({ kind: 'taken' });
  });

  it('is spent where somebody else has submitted it meanwhile', async () => {
    const item = await ground.payment(await wallets.plain());
    await ground.submitElsewhere(item);
    expect(await takes(item)).toEqual({ kind: 'spent' });
  });

  it('is refused for insufficient_funds where the balance is gone', async () => {
    const item = await ground.payment(await wallets.plain(0n));
    expect(await takes(item)).toEqual({ kind: 'rejected', reason: 'insufficient_funds' });
  });

  it('is refused for its signature where that is the matter', async () => {
    const [wallet, stranger] = [await wallets.plain(), await wallets.plain(0n)];
    const item = await ground.payment({ ...stranger, address: wallet.address });
    expect(await takes(item)).toEqual(NOT_SIGNED);
  });

  it('is refused where its factory makes nothing, though USDC would take it as the signature of a key', async () => {
    const factory = await wallets.deploy('IdleFactory');
    const item = await ground.payment(await ground.wallet());
    const { authorization, signature } = item;
    if (signature.kind !== 'ecdsa') throw new Error("this is a key's");
    const deploy = { factory, data: '0x12345678' as const };
    const wrapped: ContractSignature = { kind: 'contract', bytes: signatureOnWire(signature), deploy };
    const calls = paymentCalls(authorization, wrapped);
    expect(await ground.base.simulate(calls, ground.pay_to)).toEqual({ kind: 'ok', value: '0x' });
    expect(await takes({ ...item, signature: wrapped })).toEqual(NOT_SIGNED);
  });

  it('is taken where its factory makes it', async () => {
    expect(await takes(await ground.payment(await wallets.unmade(await wallets.deploy('WalletFactory'))))).toEqual({
      kind: 'taken',
    });
  });
});
