import { canonicalHash, isJsonObject, type Json, type JsonObject } from '../canonical-json.ts';

/*
 * What a dispute is decided by: each fact of a row by its name, and where it comes from. What stands in a receipt is read
 * here for whoever signs a verdict and whoever runs it again.
 */

export type FactSource = 'book_row' | 'book_event' | 'receipt_payload' | 'log_leaf';

/** Null, but for `on_book`, where the row, its receipt or the member is not there. */
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
} as const satisfies Record<string, FactSource>;

export type RowFactOfDispute = keyof typeof factSources;

/** The row that is disputed, and the one that the evidence names beside it. */
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

/** Of a receipt, what facts are read from: the payload that it signs, and its place in the log. */
export interface FactReceipt {
  readonly payload: JsonObject;
  readonly leaf_index: Json;
}

const memberOf = (value: Json | undefined, name: string): Json => (isJsonObject(value) ? (value[name] ?? null) : null);
const commitment = ({ fulfillment }: JsonObject): Json => memberOf(fulfillment, 'output_commitment');

const readers: { readonly [K in RowFactOfDispute]?: (receipt: FactReceipt) => Json } = {
  payload_hash: ({ payload }) => canonicalHash(payload),
  request_hash: ({ payload }) => payload.request_hash ?? null,
  model: ({ payload }) => payload.model ?? null,
  hub: ({ payload }) => payload.hub ?? null,
  intent_id: ({ payload }) => payload.intent_id ?? null,
  attempt_index: ({ payload }) => payload.attempt_index ?? null,
  output_status: ({ payload }) => memberOf(commitment(payload), 'status'),
  output_omission: ({ payload }) => memberOf(commitment(payload), 'omission_rule'),
  leaf_index: ({ leaf_index }) => leaf_index,
};

/** What a receipt says of a fact; undefined where that is told elsewhere. */
export function factOfReceipt(fact: RowFactOfDispute, receipt: FactReceipt | null): Json | undefined {
  const read = readers[fact];
  if (read === undefined) return undefined;
  return receipt === null ? null : read(receipt);
}
