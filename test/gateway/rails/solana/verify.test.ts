import { randomBytes } from 'node:crypto';
import { createNoopSigner, generateKeyPairSigner, getBase58Decoder, type KeyPairSigner, signBytes } from '@solana/kit';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { beforeAll, describe, expect, it } from 'vitest';
import { claimKey, paymentFromJson, paymentToJson } from '../../../../gateway/rails/payment.ts';
import type { Rail } from '../../../../gateway/rails/rail.ts';
import type { SolanaPayment } from '../../../../gateway/rails/solana/authorization.ts';
import { TOKEN_PROGRAM } from '../../../../gateway/rails/solana/transfer.ts';
import { openSolanaJudge, requirementsOf } from '../../../../gateway/rails/solana/verify-transaction.ts';
import { type Verified, verifyPayment } from '../../../../gateway/rails/verify.ts';
import { limits } from '../../../../schema/limits.ts';
import { networks } from '../../../../schema/network.ts';
import {
  makeTransaction,
  memoBy,
  presentedSolanaPayment,
  type TransactionParts,
} from '../../../harness/solana/wallet.ts';
import { freshSvm } from '../../../harness/svm.ts';

const now_ms = 1_800_000_000_000;
let payer: KeyPairSigner;
let made: TransactionParts;
let terms: object;
const address = () => getBase58Decoder().decode(randomBytes(32));
const [fee_payer, pay_to] = [address(), address()];
const offered = { amount_atomic: 2000n, networks: ['base', 'solana'] as const, validity_seconds_min: 10, now_ms };

beforeAll(async () => {
  payer = await generateKeyPairSigner();
  made = { payer, fee_payer, pay_to, blockhash: address() };
  terms = requirementsOf(2000n, pay_to, fee_payer);
});

async function judged(transaction: string, accepted = terms, version: 1 | 2 = 2): Promise<Verified<SolanaPayment>> {
  const solana = openSolanaJudge({ fee_payer, pay_to }) as Pick<Rail, 'isSame' | 'compareExtra' | 'verify'>;
  const payment = presentedSolanaPayment(version, transaction, accepted);
  const verified = await verifyPayment(payment, { ...offered, pay_to: { solana: pay_to } }, { solana });
  return verified as Verified<SolanaPayment>;
}

const reasonOf = (verified: Verified): string => ('reason' in verified ? verified.reason : verified.kind);
const changed = async (change: Partial<TransactionParts>) =>
  reasonOf(await judged(await makeTransaction({ ...made, ...change })));

describe('a payment by the official client', () => {
  it.each([1, 2] as const)('is verified when it speaks x402 v%i, and named by its message', async version => {
    const svm = await freshSvm();
    const wallet = await svm.newWallet();
    const client = new ExactSvmScheme(wallet.signer, { rpcUrl: svm.rpc_url });
    const { payload } = await client.createPaymentPayload(2, requirementsOf(2000n, pay_to, fee_payer));
    const verified = await judged(payload.transaction as string, terms, version);
    if (verified.kind !== 'verified') throw new Error(reasonOf(verified));
    expect(verified.authorization).toMatchObject({ payer: wallet.address, pay_to, amount_atomic: 2000n, fee_payer });
    const { message_hash, valid_before_seconds } = verified.authorization;
    expect(claimKey(verified.authorization)).toBe(`${networks.solana.caip2}/${networks.solana.usdc}/${message_hash}`);
    expect(valid_before_seconds).toBe(now_ms / 1_000 + limits.solana_blockhash_seconds);
    const { authorization, signature } = verified;
    expect(paymentFromJson(JSON.parse(JSON.stringify(paymentToJson(verified))))).toEqual({ authorization, signature });
  });
});

describe('the name of a payment', () => {
  it("does not change with what stands in the fee payer's place", async () => {
    const transaction = await makeTransaction(made);
    const raw = Buffer.from(transaction, 'base64');
    raw.fill(7, 1, 65);
    const [one, other] = [await judged(transaction), await judged(raw.toString('base64'))];
    if (one.kind !== 'verified' || other.kind !== 'verified') throw new Error('both are right');
    expect(claimKey(other.authorization)).toBe(claimKey(one.authorization));
  });
});

describe('a payment in a spelling that no block takes', () => {
  it.each<[string, (message: Buffer) => Buffer]>([
    ['with bytes after its end', message => Buffer.concat([message, Buffer.from([1])])],
    ['with a count that is longer than it need be', message => Buffer.concat([message.subarray(0, -1), ALIAS])],
  ])('%s, and signed so, is refused: could_not_be_decoded', async (_, spelt) => {
    const raw = Buffer.from(await makeTransaction(made), 'base64');
    const message = spelt(raw.subarray(MESSAGE_AT));
    const signature = await signBytes(payer.keyPair.privateKey, new Uint8Array(message));
    const signed = Buffer.concat([raw.subarray(0, MESSAGE_AT - 64), signature, message]);
    expect(reasonOf(await judged(signed.toString('base64')))).toBe(
      'invalid_exact_svm_payload_transaction_could_not_be_decoded',
    );
  });
});

describe('a payment whose fee somebody else was to pay', () => {
  it('is taken no more, and known all the same: it may have bought an answer', async () => {
    const other = address();
    const transaction = await makeTransaction({ ...made, fee_payer: other });
    for (const judge of [judged, (text: string) => judged(text, requirementsOf(2000n, pay_to, other))])
      expect(await judge(transaction)).toMatchObject({ kind: 'late', authorization: { payer: payer.address } });
  });
});

/** After the number of signatures and two of them. */
const MESSAGE_AT = 129;
/** No look-up tables, in two bytes. */
const ALIAS = Buffer.from([0x80, 0]);

describe('what a payer may have us pay for his transaction', () => {
  it("is x402's own client's fee several times over, and next to nothing beside what the signatures cost", async () => {
    const { solana_compute_units_max: units, solana_priority_fee_microlamports_max: price } = limits;
    expect(await changed({ units, price_microlamports: BigInt(price) })).toBe('verified');
    const signatures_lamports = 2 * 5_000;
    expect((units * price) / 1_000_000).toBeLessThan(signatures_lamports / 20);
  });
});

describe('a payment to another payee', () => {
  it('is taken no more, and known by its name and its signer: it may have bought an answer', async () => {
    const other = address();
    const transaction = await makeTransaction({ ...made, pay_to: other });
    for (const accepted of [terms, requirementsOf(2000n, other, fee_payer)])
      expect(await judged(transaction, accepted)).toMatchObject({ kind: 'late', code: 'wrong_payee' });
    const unsigned = Buffer.from(transaction, 'base64').fill(0, 65, 129).toString('base64');
    expect(await judged(unsigned)).toMatchObject({ kind: 'refused', code: 'wrong_payee' });
    expect(await judged(await makeTransaction(made), requirementsOf(2000n, other, fee_payer))).toMatchObject({
      kind: 'refused',
      code: 'wrong_payee',
    });
  });
});

describe('a payment that differs from the offer', () => {
  it.each([
    ['invalid_exact_svm_payload_amount_mismatch', { amount: '1999' }],
    ['invalid_exact_svm_payload_recipient_mismatch', { payTo: fee_payer }],
    ['invalid_exact_svm_payload_recipient_mismatch', { payTo: pay_to.toLowerCase() }],
    ['invalid_exact_svm_payload_mint_mismatch', { asset: fee_payer }],
    ['invalid_exact_svm_fee_payer_mismatch', { extra: { feePayer: pay_to } }],
    ['unsupported_scheme', { scheme: 'upto' }],
    ['invalid_network', { network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' }],
  ])('is refused: %s (%o)', async (reason, change) => {
    expect(reasonOf(await judged(await makeTransaction(made), { ...terms, ...change }))).toBe(reason);
  });

  it('is refused where Solana is not taken: invalid_network', async () => {
    const payment = presentedSolanaPayment(2, await makeTransaction(made), terms);
    expect(reasonOf(await verifyPayment(payment, { ...offered, pay_to: {} }, {}))).toBe('invalid_network');
  });

  it.each<[string, Partial<TransactionParts>]>([
    ['invalid_exact_svm_payload_amount_mismatch', { amount_atomic: 1999n }],
    ['invalid_exact_svm_payload_amount_mismatch', { amount_atomic: 2001n }],
    ['invalid_exact_svm_payload_recipient_mismatch', { pay_to: fee_payer }],
    ['invalid_exact_svm_fee_payer_mismatch', { fee_payer: pay_to }],
    ['invalid_exact_svm_payload_sender_mismatch', { source: pay_to }],
    ['invalid_exact_svm_payload_no_transfer_instruction', { decimals: 2 }],
    [
      'invalid_exact_svm_payload_no_transfer_instruction',
      { token_program: 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb' },
    ],
    ['invalid_exact_svm_payload_transaction_fee_payer_transferring_funds', { more: [memoBy(fee_payer)] }],
    [
      'invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction_too_high',
      { units: limits.solana_compute_units_max + 1 },
    ],
    [
      'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high',
      { price_microlamports: BigInt(limits.solana_priority_fee_microlamports_max) + 1n },
    ],
    ['invalid_exact_svm_payload_unknown_fifth_instruction', { more: [{ programAddress: TOKEN_PROGRAM as never }] }],
  ])('is refused: %s', async (reason, change) => {
    expect(await changed(change)).toBe(reason);
  });

  it('is refused where we would pay for another signature: excessive_signers', async () => {
    expect(await changed({ signers: [await generateKeyPairSigner()] })).toBe(
      'invalid_exact_svm_payload_excessive_signers',
    );
  });

  it('is refused where its fee payer would pay the price: fee_payer_transferring_funds', async () => {
    const us = createNoopSigner(fee_payer as never) as unknown as KeyPairSigner;
    expect(await changed({ payer: us })).toBe('invalid_exact_svm_payload_transaction_fee_payer_transferring_funds');
  });
});

describe('a signature', () => {
  it('that is missing, or of other bytes, is refused: signature_invalid', async () => {
    const raw = Buffer.from(await makeTransaction(made), 'base64');
    for (const at of [65, 128, raw.length - 2]) {
      const spoilt = Buffer.from(raw);
      spoilt[at] = (spoilt[at] ?? 0) ^ 1;
      expect(reasonOf(await judged(spoilt.toString('base64')))).toBe('invalid_exact_svm_payload_signature_invalid');
    }
    const unsigned = Buffer.from(raw).fill(0, 65, 129);
    expect(reasonOf(await judged(unsigned.toString('base64')))).toBe('invalid_exact_svm_payload_signature_invalid');
  });

  it('over what is no transaction is refused: could_not_be_decoded', async () => {
    expect(reasonOf(await judged(randomBytes(200).toString('base64')))).toBe(
      'invalid_exact_svm_payload_transaction_could_not_be_decoded',
    );
  });
});
