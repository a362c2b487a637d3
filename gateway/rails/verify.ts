import { type NetworkName, networks } from '../../schema/network.ts';
import type { PresentedPayment } from '../../subgraphs/context.ts';
import { type AcceptedTerms, type Envelope, type ExactPayload, readEnvelope } from '../x402/envelope.ts';
import type { PayTo } from '../x402/offer.ts';
import type { Payment } from './payment.ts';

/** Why a payment is refused whatever it says, with x402's own word for it. */
const refusals = {
  malformed: 'invalid_payload',
  wrong_scheme: 'unsupported_scheme',
  wrong_network: 'invalid_network',
} as const;

/** Why the offer that it accepts is none of ours. */
export type TermsCode =
  | 'wrong_asset'
  | 'wrong_payee'
  | 'wrong_amount'
  | 'wrong_token_name'
  | 'wrong_token_version'
  | 'wrong_fee_payer';

/** By network, as x402 calls them there. */
const mismatches: Record<NetworkName, Readonly<Partial<Record<TermsCode, string>>>> = {
  base: {
    wrong_asset: 'invalid_exact_evm_asset_mismatch',
    wrong_payee: 'invalid_exact_evm_recipient_mismatch',
    wrong_amount: 'invalid_exact_evm_payload_authorization_value_mismatch',
    wrong_token_name: 'invalid_exact_evm_token_name_mismatch',
    wrong_token_version: 'invalid_exact_evm_token_version_mismatch',
  },
  solana: {
    wrong_asset: 'invalid_exact_svm_payload_mint_mismatch',
    wrong_payee: 'invalid_exact_svm_payload_recipient_mismatch',
    wrong_amount: 'invalid_exact_svm_payload_amount_mismatch',
    wrong_fee_payer: 'invalid_exact_svm_fee_payer_mismatch',
  },
};

export type Late = 'expired' | 'too_short' | 'wrong_fee_payer' | 'wrong_payee';

export type RefusedPayment = {
  readonly kind: 'refused';
  /** Ours, and finer. */
  readonly code: string;
  /** What goes on the wire: x402's own word where it has one. */
  readonly reason: string;
};

export type Verified<P extends Payment = Payment> =
  | ({ readonly kind: 'verified' } & P)
  /**
   * Right but for its time, or for who was to pay its fee or to be paid: both are changed for others now and then. It is
   * settled no more, and yet may have bought an answer.
   */
  | ({ readonly kind: 'late'; readonly code: Late; readonly reason: string } & P)
  | RefusedPayment;

/** What we offered, and the time by which the payment is judged. */
export interface OfferedTerms {
  readonly amount_atomic: bigint;
  readonly networks: readonly NetworkName[];
  readonly pay_to: PayTo;
  /** Less than this, and there is no time for what it would pay for. */
  readonly validity_seconds_min: number;
  /** More than this, and whoever holds it could use it long after; left out: as long as any may be valid. */
  readonly validity_seconds_max?: number | undefined;
  readonly now_ms: number;
}

/** A payment that was judged, with what its client calls the purchase. */
export type JudgedPayment =
  | (Exclude<Verified, RefusedPayment> & { readonly identifier: string | null })
  | RefusedPayment;

/** What a network says of a payment by itself: nothing is asked of anybody. */
export interface PaymentJudge<P extends Payment = Payment> {
  /** Whether two spellings are of one address. */
  isSame(a: string, b: string | undefined): boolean;
  /** Why what its own offers say beside asset, payee and amount is not as we offered it; null where it is. */
  compareExtra(extra: AcceptedTerms['extra']): TermsCode | null;
  verify(payload: ExactPayload, offered: OfferedTerms): Promise<Verified<P>>;
}

/** Who judges a payment, by its network. */
export type Judges = Readonly<Partial<Record<NetworkName, PaymentJudge | null>>>;

/**
 * Judges a payment by itself: nothing is asked of anybody, so it can come first and refuse at the speed of a hash.
 * What it cannot know (balance, whether it is used) the chain is asked for later.
 */
export async function verifyPayment(
  payment: PresentedPayment,
  offered: OfferedTerms,
  judges: Judges,
): Promise<JudgedPayment> {
  const envelope = readEnvelope(payment);
  if (envelope === null) return refused('malformed');
  if (envelope.scheme !== 'exact') return refused('wrong_scheme');
  const network = offeredNetwork(envelope, offered);
  const judge = network && judges[network];
  if (!judge || envelope.payload === null) return refused('wrong_network');
  const { accepted, identifier } = envelope;
  const mismatch = accepted && compareTerms(network, judge, accepted, offered);
  if (mismatch && mismatch !== 'wrong_fee_payer' && mismatch !== 'wrong_payee') return mismatched(network, mismatch);
  const judged = await judge.verify(envelope.payload, offered);
  // What names another payee, and was not signed for that one, was never offered here.
  if (mismatch === 'wrong_payee' && !isElsewhere(judged)) return mismatched(network, mismatch);
  if (judged.kind === 'refused') return judged;
  if (!mismatch || judged.kind !== 'verified') return { ...judged, identifier };
  return { ...judged, identifier, kind: 'late', code: mismatch, reason: mismatched(network, mismatch).reason };
}

function isElsewhere(judged: Verified): boolean {
  return judged.kind === 'late' && judged.code === 'wrong_payee';
}

/** To another payee than ours, who may have been ours once. */
export function paysAnother<P extends Payment>(network: NetworkName, payment: P): Verified<P> {
  return { kind: 'late', code: 'wrong_payee', reason: mismatched(network, 'wrong_payee').reason, ...payment };
}

function offeredNetwork({ network }: Envelope, { networks: wanted, pay_to }: OfferedTerms): NetworkName | null {
  return network !== null && wanted.includes(network) && pay_to[network] ? network : null;
}

function refused(code: keyof typeof refusals): RefusedPayment {
  return { kind: 'refused', code, reason: refusals[code] };
}

export function mismatched(network: NetworkName, code: TermsCode): RefusedPayment {
  return { kind: 'refused', code, reason: mismatches[network][code] ?? 'invalid_payment_requirements' };
}

/** Why an offer that the payer says is accepted is none of ours; null where it is one. */
function compareTerms(
  network: NetworkName,
  judge: Pick<PaymentJudge, 'isSame' | 'compareExtra'>,
  { asset, payTo, amount, extra }: AcceptedTerms,
  { pay_to, amount_atomic }: OfferedTerms,
): TermsCode | null {
  if (!judge.isSame(asset, networks[network].usdc)) return 'wrong_asset';
  if (!judge.isSame(payTo, pay_to[network])) return 'wrong_payee';
  return amount === amount_atomic.toString() ? judge.compareExtra(extra) : 'wrong_amount';
}
