import { isJsonObject, type Json, type JsonObject } from '../canonical-json.ts';
import { settlementBasis, signedPayment } from '../receipt-payload.ts';

/*
 * What a receipt says of money: whether it is of a payment, and whether that was seen. Pages, commands and programs tell it from
 * here, so that none of them calls paid what another one calls pending.
 */

/** Each lane of a receipt: how its headline begins, and what is known of the money. */
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
    headline: 'Nothing was paid: an API key stood in',
    seen: false,
    means: 'An API key stood in for the payment. It is not spend.',
  },
  by_demo_key: {
    headline: 'Nothing was paid: a demo key stood in',
    seen: false,
    means: 'A demo key stood in for the payment. It is not spend.',
  },
  reported: {
    headline: 'Nothing was paid to this service',
    seen: false,
    means: 'The holder of a key reported work that others did. It is not spend.',
  },
  handed_on: {
    headline: 'Nothing was paid: the receipt was handed on',
    seen: false,
    means: 'The payment, if any, is that of the receipt that was handed on. It is not spend.',
  },
  nothing: { headline: 'Nothing was paid', seen: false, means: 'The receipt names no payment. It is not spend.' },
} as const satisfies Record<string, { readonly headline: string; readonly seen: boolean; readonly means: string }>;

export type SpendLane = keyof typeof spendLanes;

/** Lanes in which no payment was asked for: their headline says so. */
const UNASKED: ReadonlySet<SpendLane> = new Set(['by_key', 'by_demo_key', 'handed_on', 'nothing']);

/** What a receipt says of money. Amounts are digits of atomic units of the rail. */
export interface ReceiptSummary {
  readonly lane: SpendLane;
  /** Whether it is spend whose transfer was seen: what sums count. */
  readonly is_spend: boolean;
  /** Null where the receipt signs none. */
  readonly amount: string | null;
  readonly rail: string | null;
  readonly network: string | null;
  readonly payer: string | null;
  readonly payee: string | null;
  /** `network:transaction`. */
  readonly payment_ref: string | null;
  readonly transfer_index: number | null;
  /** What was paid in all: of a receipt of two payments their sum. Null where the receipt signs no amount. */
  readonly total: string | null;
  /** The transfers that it is of, each by a name that no other transfer has. */
  readonly transfers: readonly string[];
}

/**
 * @param claims what was signed, and found to be
 * @param document the receipt: what it says beside its signature of a payment that was vouched for
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

/** Whether it can be told well of: money was seen, or none was asked for. */
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

/** A payment to this service whose receipt names a book beside its transfer: only who paid this service is bound to a receipt. */
function isStamp({ observed_transfer, caller_binding }: JsonObject): boolean {
  return isJsonObject(observed_transfer) && isJsonObject(caller_binding) && caller_binding.payer_wallet !== undefined;
}

/** Lanes whose work was others', so that model, hub and resource are as the owner of the book or the holder of a key named them. */
const NAMED_BY_OTHERS: ReadonlySet<SpendLane> = new Set(['paid_elsewhere', 'payer_unproven', 'reported']);
export const isNamedByOthers = (lane: SpendLane): boolean => NAMED_BY_OTHERS.has(lane);

/** Of one that was vouched for what is told since is nobody's signature, and yet no more than that. */
function paidLane(claims: JsonObject, { settled_by, proof_outcome }: JsonObject): SpendLane {
  if (settlementBasis(claims) === 'observed_transfer') return 'paid';
  if (proof_outcome === 'unverified') return 'given_up';
  return settled_by === 'observed_transfer' && proof_outcome === 'settled' ? 'arrived' : 'pending';
}

/** Several payments may share a transaction: where nobody knows which of them it was, the payment's own id tells them apart. */
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
