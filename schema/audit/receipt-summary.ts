import { isJsonObject, type Json, type JsonObject } from '../canonical-json.ts';
import { settlementBasis, signedPayment } from '../receipt-payload.ts';

/*
 * What a receipt says about money: whether something was paid, and whether the transfer was seen. Pages, commands and clients share
 * it, so that all call the same receipt paid or pending.
 */

/** Lanes of receipts, each with its headline and what is known about the payment. */
export const spendLanes = {
  paid: { headline: 'Paid', seen: true, means: 'The issuer had seen the transfer when it signed.' },
  arrived: {
    headline: 'Paid, by the issuer’s unsigned word',
    seen: false,
    means:
      'The issuer vouched for the payment when it signed. It says now, without a signature, that it has seen the transfer.',
  },
  pending: {
    headline: 'Payment pending',
    seen: false,
    means: 'The issuer vouched for the payment, and had not seen the transfer.',
  },
  given_up: {
    headline: 'Payment not found',
    seen: false,
    means: 'The issuer vouched for the payment, looked for the transfer until the cutoff, and did not find it.',
  },
  paid_elsewhere: {
    headline: 'Paid to somebody else',
    seen: true,
    means: 'The issuer had seen the transfer, and the agent of the book is proven to have paid it.',
  },
  payer_unproven: {
    headline: 'Transfer by an unproven payer',
    seen: false,
    means: 'The issuer had seen the transfer. Nobody has shown that the agent of the book paid it: it is not spend.',
  },
  not_looked_up: {
    headline: 'Payment not looked up',
    seen: false,
    means: 'The receipt signs the reference of a payment, and not what it transferred.',
  },
  by_key: {
    headline: 'Nothing was paid: an API key was used',
    seen: false,
    means: 'An API key was used in place of a payment. It is not spend.',
  },
  by_demo_key: {
    headline: 'Nothing was paid: a demo key was used',
    seen: false,
    means: 'A demo key was used in place of a payment. It is not spend.',
  },
  reported: {
    headline: 'Nothing was paid to this service',
    seen: false,
    means: 'The holder of a key reported work that others did. It is not spend.',
  },
  handed_on: {
    headline: 'Nothing was paid: the receipt was handed off',
    seen: false,
    means: 'The payment, if any, is that of the receipt that was handed off. It is not spend.',
  },
  nothing: { headline: 'Nothing was paid', seen: false, means: 'The receipt names no payment. It is not spend.' },
} as const satisfies Record<string, { readonly headline: string; readonly seen: boolean; readonly means: string }>;

export type SpendLane = keyof typeof spendLanes;

/** Lanes without a payment, as their headlines say. */
const UNASKED: ReadonlySet<SpendLane> = new Set(['by_key', 'by_demo_key', 'handed_on', 'nothing']);

/** What a receipt says about money. Amounts are digits of atomic units of the rail. */
export interface ReceiptSummary {
  readonly lane: SpendLane;
  /** Whether it is spending whose transfer was seen. Sums count only these. */
  readonly is_spend: boolean;
  /** Null if the receipt signs no amount. */
  readonly amount: string | null;
  readonly rail: string | null;
  readonly network: string | null;
  readonly payer: string | null;
  readonly payee: string | null;
  /** `network:transaction`. */
  readonly payment_ref: string | null;
  readonly transfer_index: number | null;
  /** Total paid, over both payments if there are two. Null if the receipt signs no amount. */
  readonly total: string | null;
  /** Unique names of the transfers that the receipt covers. */
  readonly transfers: readonly string[];
}

/**
 * @param claims the verified payload
 * @param document the receipt, whose unsigned members report a payment that was only vouched for
 */
export function receiptSummary(claims: JsonObject, document: JsonObject): ReceiptSummary {
  const { network, rail, payer, pay_to, ref, transfer_index, gross_amount } = signedPayment(claims) ?? {};
  const bound = isJsonObject(claims.caller_binding) ? claims.caller_binding : {};
  const lane = laneOf(claims, document);
  const legs = Array.isArray(claims.legs) ? claims.legs.filter(isJsonObject) : [];
  const paid = legs.length > 0 ? legs : [{ ref: ref ?? claims.payment_ref, transfer_index, amount: gross_amount }];
  return {
    lane,
    is_spend: spendLanes[lane].seen,
    amount: textOf(gross_amount),
    rail: textOf(rail),
    network: textOf(network),
    payer: textOf(payer ?? bound.payer_wallet),
    payee: textOf(pay_to),
    payment_ref: textOf(ref ?? claims.payment_ref),
    transfer_index: typeof transfer_index === 'number' ? transfer_index : null,
    total: sumOf(paid.map(({ amount }) => amount)),
    transfers: paid.flatMap(each => (typeof each.ref === 'string' ? [transferName(each, claims)] : [])),
  };
}

/** Whether nothing is open: the transfer was seen, or there is no payment. */
export const isSettled = (lane: SpendLane): boolean => spendLanes[lane].seen || UNASKED.has(lane);

function laneOf(claims: JsonObject, document: JsonObject): SpendLane {
  const { payment, payment_ref, observed_transfer, payer_proven, reported, target_agent, waived_by } = claims;
  if (waived_by !== undefined) return waived_by === 'demo_key' ? 'by_demo_key' : 'by_key';
  if (reported !== undefined) return 'reported';
  if (target_agent !== undefined) return 'handed_on';
  if (isJsonObject(payment) || isStamp(claims)) return paidLane(claims, document);
  if (isJsonObject(observed_transfer)) return payer_proven === true ? 'paid_elsewhere' : 'payer_unproven';
  return payment_ref === undefined ? 'nothing' : 'not_looked_up';
}

/** A payment to this service whose receipt names a book beside its transfer. Only a payer of this service is bound to a receipt. */
function isStamp({ observed_transfer, caller_binding }: JsonObject): boolean {
  return isJsonObject(observed_transfer) && isJsonObject(caller_binding) && caller_binding.payer_wallet !== undefined;
}

/** Lanes of work done by others, where the owner of the book or the holder of a key named model, hub and resource. */
const NAMED_BY_OTHERS: ReadonlySet<SpendLane> = new Set(['paid_elsewhere', 'payer_unproven', 'reported']);
export const isNamedByOthers = (lane: SpendLane): boolean => NAMED_BY_OTHERS.has(lane);

/** What is reported later about a payment that was vouched for is unsigned, but is all that is known. */
function paidLane(claims: JsonObject, { settled_by, proof_outcome }: JsonObject): SpendLane {
  if (settlementBasis(claims) === 'observed_transfer') return 'paid';
  if (proof_outcome === 'unverified') return 'given_up';
  return settled_by === 'observed_transfer' && proof_outcome === 'settled' ? 'arrived' : 'pending';
}

/** Several payments may share a transaction. Without an index, the id of the payment distinguishes them. */
function transferName(
  { ref, transfer_index }: Readonly<Record<string, Json | undefined>>,
  { payment }: JsonObject,
): string {
  const id = isJsonObject(payment) ? payment.payment_id : undefined;
  return [ref, typeof transfer_index === 'number' ? transfer_index : (id ?? '')].join('#');
}

function sumOf(amounts: readonly (Json | undefined)[]): string | null {
  const digits = amounts.filter(amount => typeof amount === 'string' && /^\d{1,78}$/.test(amount)) as string[];
  return digits.length === amounts.length ? String(digits.reduce((sum, amount) => sum + BigInt(amount), 0n)) : null;
}

const textOf = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null);
