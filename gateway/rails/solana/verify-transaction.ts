import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import type { FacilitatorSvmSigner } from '@x402/svm';
import { ExactSvmScheme } from '@x402/svm/exact/facilitator';
import { atomicAmount } from '../../../schema/amount.ts';
import { limits } from '../../../schema/limits.ts';
import { networks } from '../../../schema/network.ts';
import type { AcceptedTerms, ExactSvmPayload } from '../../x402/envelope.ts';
import {
  type OfferedTerms,
  paysAnother,
  type RefusedPayment,
  type TermsCode,
  termsRefusal,
  type Verified,
} from '../verify.ts';
import type { SolanaPayment } from './authorization.ts';
import {
  type DecodedTransaction,
  isTransactionSignedBy,
  readWireTransaction,
  type TransferInstruction,
  transferIn,
  usdcAccountOf,
  usesFeePayer,
} from './transfer.ts';

/** Reasons why a transaction is not the offered payment, with x402's code if it has one. */
const refusals = {
  malformed: 'invalid_exact_svm_payload_transaction_could_not_be_decoded',
  wrong_fee_payer: 'invalid_exact_svm_fee_payer_mismatch',
  fee_payer_used: 'invalid_exact_svm_payload_transaction_fee_payer_transferring_funds',
  excessive_signers: 'invalid_exact_svm_payload_excessive_signers',
  no_transfer: 'invalid_exact_svm_payload_no_transfer_instruction',
  wrong_source: 'invalid_exact_svm_payload_sender_mismatch',
} as const;

/** Number of signers: the fee payer and the authority of the transfer. Each further signature would cost us another fee. */
const SIGNERS = 2;
const no_work = async () => {};

export interface JudgeParts {
  /** Null while the fee payer is unknown. Then only earlier purchases are served. */
  readonly fee_payer: string | null;
  readonly pay_to: string;
}

/** Checks a payment on Solana by its content alone: by our own terms first, then by the official verification. */
export function openSolanaJudge({ fee_payer, pay_to }: JudgeParts) {
  const official = officialScheme(fee_payer ?? '');
  const treasury = usdcAccountOf(pay_to);
  treasury.catch(() => {});
  const accountOf = (payee: string) => (payee === pay_to ? treasury : usdcAccountOf(payee));
  const verify = rememberVerified(judge);
  return {
    isSame: same,
    compareExtra: (extra: AcceptedTerms['extra']): TermsCode | null =>
      (extra.feePayer ?? fee_payer) === fee_payer ? null : 'wrong_fee_payer',
    verify,
  };

  async function judge({ transaction }: ExactSvmPayload, offered: OfferedTerms): Promise<Verified<SolanaPayment>> {
    const read = readWireTransaction(Buffer.from(transaction, 'base64'));
    if (read === null) return payloadRefusal('malformed');
    const transfer = transferIn(read);
    if (transfer === null) return payloadRefusal('no_transfer');
    const payee = offered.pay_to.solana ?? pay_to;
    const fault = compareSigners(read, transfer) ?? compareTransfer(transfer, await accountOf(payee), offered);
    if (fault?.code === 'wrong_payee') return toAnother(read, transfer, transaction, offered.now_ms);
    if (fault) return fault;
    if (transfer.source !== (await usdcAccountOf(transfer.authority))) return payloadRefusal('wrong_source');
    const named = feePayerOf(read);
    const scheme = named === fee_payer ? official : officialScheme(named);
    const requirements = requirementsOf(offered.amount_atomic, payee, named);
    const { isValid, invalidReason } = await scheme.verify(payloadOf(transaction, requirements), requirements);
    if (!isValid) return officially(invalidReason);
    const payment = paymentOf(read, transfer, { transaction, pay_to: payee, fee_payer: named }, offered.now_ms);
    return named === fee_payer ? { kind: 'verified', ...payment } : forAnother(payment);
  }
}

type Judge = (payload: ExactSvmPayload, offered: OfferedTerms) => Promise<Verified<SolanaPayment>>;

/**
 * Caches results. The gate checks a payment first and the charge checks it again. For the same terms only the time limit is
 * computed again, because it counts from now.
 */
function rememberVerified(judge: Judge): Judge {
  const known = new WeakMap<
    ExactSvmPayload,
    { readonly amount_atomic: bigint; readonly payee: string | undefined; readonly verified: Verified<SolanaPayment> }
  >();
  return async (payload, offered) => {
    const { amount_atomic, now_ms } = offered;
    const payee = offered.pay_to.solana;
    const before = known.get(payload);
    if (before?.amount_atomic === amount_atomic && before.payee === payee) return asOf(before.verified, now_ms);
    const verified = await judge(payload, offered);
    known.set(payload, { amount_atomic, payee, verified });
    return verified;
  };
}

function asOf(verified: Verified<SolanaPayment>, now_ms: number): Verified<SolanaPayment> {
  if (verified.kind === 'refused') return verified;
  return { ...verified, authorization: { ...verified.authorization, valid_before_seconds: usableUntil(now_ms) } };
}

function usableUntil(now_ms: number): number {
  return Math.floor(now_ms / 1_000) + limits.solana_blockhash_seconds;
}

function same(a: string, b: string | undefined): boolean {
  return a === b;
}

/**
 * A payment whose fee payer is not the current one, so this service does not sign for its fee. The payment may have bought an
 * answer while that fee payer was in use, since keys and facilitators change. Its payer must not be asked to pay again.
 */
function forAnother(payment: SolanaPayment): Verified<SolanaPayment> {
  return { kind: 'late', code: 'wrong_fee_payer', reason: refusals.wrong_fee_payer, ...payment };
}

/**
 * A payment to another address, which may have been our treasury when the payment bought an answer. Only the signer is checked: if
 * it has a claim, it passed all other checks then. Only the USDC account of the payee is known here, not its owner.
 */
async function toAnother(
  read: DecodedTransaction,
  transfer: TransferInstruction,
  transaction: string,
  now_ms: number,
): Promise<Verified<SolanaPayment>> {
  if (!(await isTransactionSignedBy(read, transfer.authority))) return termsRefusal('solana', 'wrong_payee');
  const named = { transaction, pay_to: transfer.destination, fee_payer: feePayerOf(read) };
  return paysAnother('solana', paymentOf(read, transfer, named, now_ms));
}

function payloadRefusal(code: keyof typeof refusals): RefusedPayment {
  return { kind: 'refused', code, reason: refusals[code] };
}

function officially(reason = 'invalid_exact_svm_verification_failed'): RefusedPayment {
  return { kind: 'refused', code: reason, reason };
}

function feePayerOf({ message }: DecodedTransaction): string {
  return message.staticAccounts[0] ?? '';
}

/** Checks that the signers are the payer and the fee payer, and that the fee payer has no other role. */
function compareSigners(read: DecodedTransaction, { authority }: TransferInstruction): RefusedPayment | null {
  const { header, staticAccounts } = read.message;
  if (usesFeePayer(read)) return payloadRefusal('fee_payer_used');
  if (header.numSignerAccounts !== SIGNERS || staticAccounts[1] !== authority)
    return payloadRefusal('excessive_signers');
  // Only the chain can resolve an account in a look-up table, and no `exact` payment needs one.
  const { addressTableLookups = [] } = read.message as { addressTableLookups?: readonly unknown[] };
  return addressTableLookups.length > 0 ? payloadRefusal('malformed') : null;
}

function compareTransfer(
  { destination, amount_atomic }: TransferInstruction,
  account: string,
  offered: OfferedTerms,
): RefusedPayment | null {
  if (destination !== account) return termsRefusal('solana', 'wrong_payee');
  return amount_atomic === offered.amount_atomic ? null : termsRefusal('solana', 'wrong_amount');
}

/**
 * The checks of x402's package that need no chain: instruction layout, compute budget, signatures, memo. Its simulation is left
 * out, because an unreachable node must not make a payment look invalid; `ready` simulates with our own client.
 */
function officialScheme(fee_payer: string): ExactSvmScheme {
  const signer = { getAddresses: () => [fee_payer], simulateTransaction: no_work } as unknown as FacilitatorSvmSigner;
  return new ExactSvmScheme(signer, undefined, {
    maxComputeUnits: limits.solana_compute_units_max,
    maxPriorityFeeMicroLamports: limits.solana_priority_fee_microlamports_max,
    maxRequiredSignatures: SIGNERS,
  });
}

/** The offered terms in the form of x402 v2. Version 1 differs only in the envelope. */
export function requirementsOf(amount_atomic: bigint, pay_to: string, fee_payer: string): PaymentRequirements {
  return {
    scheme: 'exact',
    network: networks.solana.caip2,
    amount: amount_atomic.toString(),
    asset: networks.solana.usdc,
    payTo: pay_to,
    maxTimeoutSeconds: limits.payment_timeout_seconds_max,
    extra: { feePayer: fee_payer },
  };
}

export function payloadOf(transaction: string, accepted: PaymentRequirements): PaymentPayload {
  return { x402Version: 2, accepted, payload: { transaction } };
}

function paymentOf(
  { message, message_hash }: DecodedTransaction,
  { authority, amount_atomic }: TransferInstruction,
  { transaction, pay_to, fee_payer }: ExactSvmPayload & { readonly pay_to: string; readonly fee_payer: string },
  now_ms: number,
): SolanaPayment {
  return {
    authorization: {
      network: 'solana',
      payer: authority,
      pay_to,
      amount_atomic: atomicAmount(amount_atomic),
      message_hash,
      blockhash: message.lifetimeToken,
      fee_payer,
      // The block height is set once the chain was queried.
      last_valid_block_height: 0,
      valid_before_seconds: usableUntil(now_ms),
    },
    signature: { kind: 'partial', transaction },
  };
}
