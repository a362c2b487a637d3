import { beforeEach, describe, expect, it } from 'vitest';
import type { Presented } from '../../../../gateway/charge/claim-request.ts';
import type { Till } from '../../../../gateway/charge/till.ts';
import { paymentCalls } from '../../../../gateway/rails/base/contracts.ts';
import type { SettleItem } from '../../../../gateway/rails/base/settle/submission.ts';
import { type ContractSignature, signatureOnWire } from '../../../../gateway/rails/base/signature.ts';
import { walletTakes } from '../../../../gateway/rails/base/wallets.ts';
import type { BasePayment } from '../../../../gateway/rails/payment.ts';
import { openChallenges } from '../../../../gateway/x402/offer.ts';
import { openWallets, type TestWallets } from '../../../harness/wallets.ts';
import { type Ground, openGround } from './ground.ts';

/* A payment whose simulation fails for what happened after its payer was last looked at. */

let ground: Ground;
let wallets: TestWallets;
beforeEach(async () => {
  ground = await openGround();
  wallets = openWallets(ground.chain);
});

/** As little of a till as this question needs: no claim of the payer's was ever reverted. */
function takes({ authorization, signature }: SettleItem): Promise<'taken' | 'spent'> {
  const till = {
    database: { query: async () => [] },
    chain: ground.base,
    settles_from: ground.pay_to,
    base_url: 'http://svc.test',
    pay_to: { base: ground.pay_to },
    challenges: openChallenges({ base: ground.pay_to }),
  } as unknown as Till;
  const paid = { field: 'createChatCompletion', price_atomic: authorization.amount_atomic, networks: ['base'] };
  const presented = { paid, payment: { authorization, signature } } as unknown as Presented<BasePayment>;
  return walletTakes(till, presented, signature as ContractSignature);
}

describe("a contract wallet's payment", () => {
  it('is taken, though who simulates it has no gas of his own', async () => {
    expect(await takes(await ground.payment(await wallets.plain()))).toBe('taken');
  });

  it('is spent where somebody else has submitted it meanwhile', async () => {
    const item = await ground.payment(await wallets.plain());
    await ground.submitElsewhere(item);
    expect(await takes(item)).toBe('spent');
  });

  it('is refused for insufficient_funds where the balance is gone', async () => {
    const item = await ground.payment(await wallets.plain(0n));
    await expect(takes(item)).rejects.toMatchObject({ code: 'payment_rejected', message: 'insufficient_funds' });
  });

  it('is refused for its signature where that is the matter', async () => {
    const [wallet, stranger] = [await wallets.plain(), await wallets.plain(0n)];
    const item = await ground.payment({ ...stranger, address: wallet.address });
    await expect(takes(item)).rejects.toMatchObject({ message: 'invalid_exact_evm_payload_signature' });
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
    await expect(takes({ ...item, signature: wrapped })).rejects.toMatchObject({
      message: 'invalid_exact_evm_payload_signature',
    });
  });

  it('is taken where its factory makes it', async () => {
    expect(await takes(await ground.payment(await wallets.unmade(await wallets.deploy('WalletFactory'))))).toBe(
      'taken',
    );
  });
});
