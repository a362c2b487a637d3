import { type NetworkName, networks } from '../../schema/network.ts';
import type { PresentedPayment } from '../../subgraphs/context.ts';
import { type AcceptedTerms, type Envelope, type ExactPayload, readEnvelope } from '../x402/envelope.ts';
import type { PayTo } from '../x402/offer.ts';
import type { Payment } from './payment.ts';

/** Reasons why a payment is refused before its content is checked, with x402's code. */
const refusals = {
  malformed: 'invalid_payload',
  wrong_scheme: 'unsupported_scheme',
  wrong_network: 'invalid_network',
} as const;

/** Reason why the offer that the payer accepted is not one that this service made. */
export type TermsCode =
  | 'wrong_asset'
  | 'wrong_payee'
  | 'wrong_amount'
  | 'wrong_token_name'
  | 'wrong_token_version'
  | 'wrong_fee_payer';

/** x402's code for each reason, by network. */
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

export type TermsMismatch = 'expired' | 'too_short' | 'wrong_fee_payer' | 'wrong_payee';

export type RefusedPayment = {
  readonly kind: 'refused';
  /** This service's code, which is more specific than x402's. */
  readonly code: string;
  /** The value on the wire: x402's code if it has one. */
  readonly reason: string;
};

export type Verified<P extends Payment = Payment> =
  | ({ readonly kind: 'verified' } & P)
  /**
   * Valid except for its time, fee payer or payee; our fee payer and payee may change. The payment is no longer settled, but may
   * have bought an answer.
   */
  | ({ readonly kind: 'late'; readonly code: TermsMismatch; readonly reason: string } & P)
  | RefusedPayment;

/** The offered terms, and the time at which the payment is checked. */
export interface OfferedTerms {
  readonly amount_atomic: bigint;
  readonly networks: readonly NetworkName[];
  readonly pay_to: PayTo;
  /** Minimum remaining validity. With less time left the purchase could not be completed. */
  readonly validity_seconds_min: number;
  /**
   * Maximum remaining validity, so that a holder of the payment cannot use it long afterwards. Undefined means the longest that any
   * payment may have.
   */
  readonly validity_seconds_max?: number | undefined;
  readonly now_ms: number;
}

/** A checked payment, with the client's identifier of the purchase. */
export type JudgedPayment =
  | (Exclude<Verified, RefusedPayment> & { readonly identifier: string | null })
  | RefusedPayment;

/** A network's checks of a payment by its content alone, without a request to any server. */
export interface PaymentJudge<P extends Payment = Payment> {
  /** Whether two spellings are of the same address. */
  isSame(a: string, b: string | undefined): boolean;
  /**
   * How the offer that the payer accepted differs from this service's in members other than asset, payee and amount; null if it
   * does not.
   */
  compareExtra(extra: AcceptedTerms['extra']): TermsCode | null;
  verify(payload: ExactPayload, offered: OfferedTerms): Promise<Verified<P>>;
}

/** Checks of each network. */
export type Judges = Readonly<Partial<Record<NetworkName, PaymentJudge | null>>>;

/**
 * Checks a payment by its content alone. No request is sent, so this can come first and refuses as fast as a hash is computed.
 * Balance and use are checked on the chain later.
 */
export async function verifyPayment(
  payment: PresentedPayment,
  offered: OfferedTerms,
  judges: Judges,
): Promise<JudgedPayment> {
  const envelope = readEnvelope(payment);
  if (envelope === null) return payloadRefusal('malformed');
  if (envelope.scheme !== 'exact') return payloadRefusal('wrong_scheme');
  const network = offeredNetwork(envelope, offered);
  const judge = network && judges[network];
  if (!judge || envelope.payload === null) return payloadRefusal('wrong_network');
  const { accepted, identifier } = envelope;
  const mismatch = accepted && compareTerms(network, judge, accepted, offered);
  if (mismatch && mismatch !== 'wrong_fee_payer' && mismatch !== 'wrong_payee') return termsRefusal(network, mismatch);
  const judged = await judge.verify(envelope.payload, offered);
  // A payment whose accepted offer names another payee than the signature was never offered here.
  if (mismatch === 'wrong_payee' && !isElsewhere(judged)) return termsRefusal(network, mismatch);
  if (judged.kind === 'refused') return judged;
  if (!mismatch || judged.kind !== 'verified') return { ...judged, identifier };
  return { ...judged, identifier, kind: 'late', code: mismatch, reason: termsRefusal(network, mismatch).reason };
}

function isElsewhere(judged: Verified): boolean {
  return judged.kind === 'late' && judged.code === 'wrong_payee';
}

/** The payment pays an address that is not our payee, but may have been our payee before. */
export function paysAnother<P extends Payment>(network: NetworkName, payment: P): Verified<P> {
  return { kind: 'late', code: 'wrong_payee', reason: termsRefusal(network, 'wrong_payee').reason, ...payment };
}

function offeredNetwork({ network }: Envelope, { networks, pay_to }: OfferedTerms): NetworkName | null {
  return network !== null && networks.includes(network) && pay_to[network] ? network : null;
}

function payloadRefusal(code: keyof typeof refusals): RefusedPayment {
  return { kind: 'refused', code, reason: refusals[code] };
}

export function termsRefusal(network: NetworkName, code: TermsCode): RefusedPayment {
  return { kind: 'refused', code, reason: mismatches[network][code] ?? 'invalid_payment_requirements' };
}

/** Reason why the offer that the payer accepted is not one that this service made; null if it is one. */
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
