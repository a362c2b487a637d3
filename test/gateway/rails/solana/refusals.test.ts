import { randomBytes } from 'node:crypto';
import { createNoopSigner, getBase58Decoder, type KeyPairSigner } from '@solana/kit';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import { beforeAll, describe, expect, it } from 'vitest';
import { networks } from '../../../../schema/network.ts';
import { ask, CHAT, type ChallengeBody } from '../../../harness/doors/open-service.ts';
import { makeSolanaPayment, type SolanaPaymentChange } from '../../../harness/solana/make-payment.ts';
import { openSolanaService, type SolanaService } from '../../../harness/solana/open-service.ts';
import { memoBy } from '../../../harness/solana/wallet.ts';

let service: SolanaService;
beforeAll(async () => {
  service = await openSolanaService();
});

const STRANGER = getBase58Decoder().decode(randomBytes(32));
const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
const svm = (word: string) => `invalid_exact_svm_${word}`;

/** Refused, nothing claimed, nothing moved; and the same wallet pays well after it. */
async function refusedThenPaid(change: (payer: KeyPairSigner) => SolanaPaymentChange) {
  const payer = await service.svm.newWallet();
  const headers = await makeSolanaPayment(service, payer.signer, change(payer.signer));
  const refused = await service.post<ChallengeBody>(CHAT, ask(), headers);
  expect(await service.claimsOf(payer)).toEqual([]);
  expect((await service.post(CHAT, ask(), await makeSolanaPayment(service, payer.signer))).status).toBe(200);
  expect(await service.movedFrom(payer)).toHaveLength(1);
  return refused;
}

describe('POST /v1/chat/completions 402, with a word of x402, on a payment by Solana', () => {
  const us = () => createNoopSigner(service.svm.fee_payer.address as never) as unknown as KeyPairSigner;
  it.each<[string, string, (payer: KeyPairSigner) => SolanaPaymentChange]>([
    ['of too little', 'payload_amount_mismatch', () => ({ made: { amount_atomic: 1999n } })],
    ['of too much', 'payload_amount_mismatch', () => ({ made: { amount_atomic: 2001n } })],
    ['to another payee', 'payload_recipient_mismatch', () => ({ made: { pay_to: STRANGER } })],
    ['out of another account', 'payload_sender_mismatch', () => ({ made: { source: STRANGER } })],
    ['in another token program', 'payload_no_transfer_instruction', () => ({ made: { token_program: TOKEN_2022 } })],
    ['whose fees somebody else pays', 'fee_payer_mismatch', () => ({ made: { fee_payer: STRANGER } })],
    [
      'out of the pocket of whoever pays the fees',
      'payload_transaction_fee_payer_transferring_funds',
      () => ({ made: { payer: us() } }),
    ],
    [
      'that has the fee payer sign for more',
      'payload_transaction_fee_payer_transferring_funds',
      () => ({ made: { more: [memoBy(service.svm.fee_payer.address)] } }),
    ],
    [
      'with two instructions too many',
      'payload_transaction_instructions_length',
      () => ({ made: { more: [1, 2, 3, 4].map(() => ({ programAddress: MEMO }) as never) } }),
    ],
    ['signed by nobody', 'payload_signature_invalid', () => ({ transaction: text => withByte(text, 65) })],
    [
      'that was changed after its signing',
      'payload_signature_invalid',
      () => ({ transaction: text => withByte(text, -2) }),
    ],
    ['that is no transaction', 'payload_transaction_could_not_be_decoded', () => ({ transaction: () => 'AAAA' })],
  ])('%s, by v1 and by v2', async (_, word, change) => {
    for (const version of [1, 2] as const) {
      const refused = await refusedThenPaid(payer => ({ ...change(payer), version }));
      expect(refused).toMatchObject({ status: 402, body: { x402Version: 1, error: svm(word) } });
      expect(decodePaymentRequiredHeader(refused.headers.get('PAYMENT-REQUIRED') ?? '').error).toBe(svm(word));
    }
  });

  it.each<[string, string, object]>([
    ['of another scheme', 'unsupported_scheme', { scheme: 'upto' }],
    ['on a test network', 'invalid_network', { network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' }],
    ['in another mint', svm('payload_mint_mismatch'), { asset: STRANGER }],
    ['that accepts another payee', svm('payload_recipient_mismatch'), { payTo: STRANGER }],
    ['that accepts another amount', svm('payload_amount_mismatch'), { amount: '1' }],
    ['that accepts another fee payer', svm('fee_payer_mismatch'), { extra: { feePayer: STRANGER } }],
  ])('%s', async (_, error, accepted) => {
    expect(await refusedThenPaid(() => ({ accepted }))).toMatchObject({ status: 402, body: { error } });
  });
});

it('POST /v1/chat/completions 400 invalid_payment on a payment that accepts the offer of the other network', async () => {
  const { signer } = await service.svm.newWallet();
  const headers = await makeSolanaPayment(service, signer, { accepted: { network: networks.base.caip2 } });
  const refused = await service.post(CHAT, ask(), headers);
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_payment' } });
});

describe('POST /v1/chat/completions 402 on what the chain would not take', () => {
  it('insufficient_funds, without USDC and with too little of it; the same wallet pays once it has more', async () => {
    const poor = await service.svm.newWallet(0n);
    const refusedOf = async () => {
      const refused = await service.post<ChallengeBody>(CHAT, ask(), await makeSolanaPayment(service, poor.signer));
      expect(refused).toMatchObject({ status: 402, body: { error: 'insufficient_funds' } });
      expect(await service.claimsOf(poor)).toEqual([]);
    };
    await refusedOf();
    await service.svm.fund(poor.address, { usdc_atomic: 1999n });
    await refusedOf();
    await service.svm.fund(poor.address, { usdc_atomic: 1n });
    expect((await service.post(CHAT, ask(), await makeSolanaPayment(service, poor.signer))).status).toBe(200);
  });

  it('an expired blockhash: nothing is claimed, and the payer signs anew', async () => {
    const payer = await service.svm.newWallet();
    const late = await service.paymentOnSolana(payer);
    await service.svm.expire();
    const refused = await service.post<ChallengeBody>(CHAT, ask(), late);
    expect(refused).toMatchObject({ status: 402, body: { error: svm('payload_blockhash_expired') } });
    expect(await service.claimsOf(payer)).toEqual([]);
    expect((await service.post(CHAT, ask(), await service.paymentOnSolana(payer))).status).toBe(200);
    expect(await service.movedFrom(payer)).toHaveLength(1);
  });
});

it('402 payer_reverted_lately to whoever has had work done for a blockhash that ran out before it was sent', async () => {
  const payer = await service.svm.newWallet();
  const before = service.gates.alpha.held();
  service.gates.alpha.hold();
  const worked = service.post<ChallengeBody>(
    CHAT,
    { ...ask(), model: 'alpha-1' },
    await makeSolanaPayment(service, payer.signer),
  );
  await expect.poll(service.gates.alpha.held).toBe(before + 1);
  await service.svm.expire();
  service.gates.alpha.open();
  expect(await worked).toMatchObject({ status: 402, body: { error: 'expired' } });
  expect(await service.claimsOf(payer)).toEqual([{ state: 'released', reason: 'expired' }]);
  const again = await service.post<ChallengeBody>(CHAT, ask(), await makeSolanaPayment(service, payer.signer));
  expect(again).toMatchObject({ status: 402, body: { error: 'payer_reverted_lately' } });
  const other = await service.svm.newWallet();
  expect((await service.post(CHAT, ask(), await makeSolanaPayment(service, other.signer))).status).toBe(200);
});

/** One bit of one byte turned. */
function withByte(text: string, at: number): string {
  const raw = Buffer.from(text, 'base64');
  const index = at < 0 ? raw.length + at : at;
  raw[index] = (raw[index] ?? 0) ^ 1;
  return raw.toString('base64');
}
