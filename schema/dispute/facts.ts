import { canonicalHash, isJsonObject, type Json, type JsonObject } from '../canonical-json.ts';
import { commitmentIn, commitmentMaker } from '../output-commitment.ts';
import { signedPayment } from '../receipt-payload.ts';

/* Facts that decide a dispute, each by name and source. Facts of receipts are read here both to sign a verdict and to verify it. */

export type FactSource =
  | 'book_row'
  | 'book_event'
  | 'receipt_payload'
  | 'log_leaf'
  | 'payment_claim'
  | 'dispute'
  | 'board_job';

/** Sources of facts. A fact is null if the row, its receipt or the member is missing, except `on_book` and `intent_shared`. */
export const factSources = {
  on_book: 'book_row',
  evidence: 'book_row',
  amount: 'book_row',
  settlement_vanished: 'book_event',
  answered_on_resend: 'book_event',
  payload_hash: 'receipt_payload',
  request_hash: 'receipt_payload',
  model: 'receipt_payload',
  hub: 'receipt_payload',
  intent_id: 'receipt_payload',
  attempt_index: 'receipt_payload',
  output_status: 'receipt_payload',
  output_omission: 'receipt_payload',
  leaf_index: 'log_leaf',
  // Since rule 3.
  output_hash: 'receipt_payload',
  output_by: 'receipt_payload',
  /** Whether the row counts as collected. False if the final chain does not have its payment. */
  collected: 'book_row',
  /** Whether another charged row of the book names the same intent and attempt. */
  intent_shared: 'book_row',
  /** Time until which the same payment may still bring the response. Null if it cannot. */
  resend_until: 'payment_claim',
  /** Dispute that refunded this charge. */
  refunded_by: 'dispute',
  /** For a row that pays for a job of the board or its fee: the job and its state. */
  job_id: 'board_job',
  job_paid_at: 'board_job',
  job_challenged_at: 'board_job',
  job_revealed_at: 'board_job',
  job_winner: 'board_job',
  job_price: 'board_job',
  job_fee: 'board_job',
  job_fee_task_id: 'board_job',
  // Since rule 4.
  answered_model: 'receipt_payload',
  /** Id in the catalogue of the hub that this names, by its configuration when the receipt was signed. */
  answered_catalogue_model: 'receipt_payload',
  /** The same three facts of the response that a resend brought. Null without one, or if its correction does not say. */
  resend_model: 'book_event',
  resend_answered_model: 'book_event',
  resend_answered_catalogue_model: 'book_event',
} as const satisfies Record<string, FactSource>;

export type RowFactOfDispute = keyof typeof factSources;

/** The disputed row, and the other row that the evidence names. */
export const disputeSides = ['disputed', 'other'] as const;
export type DisputeSide = (typeof disputeSides)[number];

export type DisputeFactName = `${DisputeSide}.${RowFactOfDispute}`;

export const factNames = disputeSides.flatMap(side =>
  (Object.keys(factSources) as RowFactOfDispute[]).map(name => `${side}.${name}` as const),
);

export function partsOf(name: DisputeFactName): { readonly side: DisputeSide; readonly fact: RowFactOfDispute } {
  const [side, fact] = name.split('.') as [DisputeSide, RowFactOfDispute];
  return { side, fact };
}

export function isFactName(name: Json | undefined): name is DisputeFactName {
  return factNames.some(known => known === name);
}

/** The parts of a receipt that facts are read from: its signed payload and its place in the log. */
export interface FactReceipt {
  readonly payload: JsonObject;
  readonly leaf_index: Json;
}

const commitmentOf = ({ fulfillment }: JsonObject) => commitmentIn(fulfillment);

const readers: { readonly [K in RowFactOfDispute]?: (receipt: FactReceipt) => Json } = {
  payload_hash: ({ payload }) => canonicalHash(payload),
  request_hash: ({ payload }) => payload.request_hash ?? null,
  model: ({ payload }) => payload.model ?? null,
  hub: ({ payload }) => payload.hub ?? null,
  answered_model: ({ payload }) => payload.answered_model ?? null,
  answered_catalogue_model: ({ payload }) => payload.answered_catalogue_model ?? null,
  intent_id: ({ payload }) => payload.intent_id ?? null,
  attempt_index: ({ payload }) => payload.attempt_index ?? null,
  output_status: ({ payload }) => commitmentOf(payload).status ?? null,
  output_omission: ({ payload }) => commitmentOf(payload).omission_rule ?? null,
  output_hash: ({ payload }) => commitmentOf(payload).hash ?? null,
  output_by: ({ payload }) => commitmentMaker(payload),
  leaf_index: ({ leaf_index }) => leaf_index,
};

/** Value of a fact in a receipt. Undefined if it has another source. */
export function factOfReceipt(fact: RowFactOfDispute, receipt: FactReceipt | null): Json | undefined {
  const read = readers[fact];
  if (read === undefined) return undefined;
  return receipt === null ? null : read(receipt);
}

/** Facts of the book or the board that a receipt repeats, with its value. Undefined if the receipt does not say. */
const repeated: { readonly [K in RowFactOfDispute]?: (payload: JsonObject) => Json | undefined } = {
  amount: payload => signedPayment(payload)?.gross_amount,
  job_price: payload => legOf(payload, 'payee'),
  job_fee: payload => legOf(payload, 'fee'),
};

function legOf({ legs }: JsonObject, leg: string): Json | undefined {
  const found = Array.isArray(legs) ? legs.filter(isJsonObject).find(each => each.leg === leg) : undefined;
  return found?.amount;
}

/** @see repeated */
export function repeatedByReceipt(fact: RowFactOfDispute, payload: JsonObject): Json | undefined {
  return repeated[fact]?.(payload);
}
