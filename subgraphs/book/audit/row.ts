import {
  type ColumnValue,
  hashedColumns,
  hashedFacts,
  laterColumns,
  movableColumns,
  type RowColumn,
} from '../../../schema/book-row.ts';
import { canonicalHash, canonicalJson, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import type { BookDamageKind } from './damage.ts';

/** A stored row, with the facts that its events and its receipt record about it. */
export type StoredRow = { readonly [K in RowColumn]: ColumnValue<K> } & {
  /** Bodies of the transition events of the row, in order. */
  readonly transitions: readonly JsonObject[];
  /** Number of replays that the events of the row record. */
  readonly replays: number;
  /** Facts of the signed receipt of the row. Null if none is expected or the receipt is damaged. */
  readonly receipt: SignedFacts | 'missing' | null;
};

/** Facts that a receipt shares with its row. */
export interface SignedFacts {
  readonly agent_id: number | null;
  readonly book_seq: number | null;
  readonly amount: string | null;
  readonly payment_ref: string | null;
}

/** Null if the row matches its events and its receipt. @param recorded the birth of the row as its event records it */
export function auditRow(row: StoredRow, recorded: JsonObject): BookDamageKind | null {
  const { row_hash, transitions, replays, receipt, replay_count } = row;
  const stored = { ...row, amount: row.amount?.toString() ?? null, collected_at: row.collected_at.toISOString() };
  // A changed row no longer has its values at birth, but the event of its first transition records them.
  const birth = { ...membersOf(stored, hashedColumns), ...(transitions[0]?.born as JsonObject | undefined) };
  if (canonicalHash(hashedFacts(birth)) !== row_hash) return 'row_altered';
  const { evidence, collected, amount } = birth;
  // The message numbers belong to the event, not to the row.
  const { messages: _, ...recorded_of_row } = recorded;
  if (canonicalJson({ evidence, collected, amount, row_hash } as JsonObject) !== canonicalJson(recorded_of_row))
    return 'row_altered';
  if (!stands(membersOf(stored, changeable), birth, transitions)) return 'row_moved';
  if (replay_count < replays) return 'replays_lost';
  return receiptFault(birth, receipt);
}

/** Whether the changeable columns have the values of the last transition or, if there is none, the values at birth. */
function stands(standing: JsonObject, birth: JsonObject, transitions: readonly JsonObject[]): boolean {
  const is = transitions.at(-1) ?? { ...birth, ingress_receipt: null, omission_rule: null };
  return changeable.every(name => canonicalJson(standing[name] as Json) === canonicalJson(is[name] as Json));
}

const changeable = [...movableColumns, ...laterColumns];

function membersOf(row: object, names: readonly (keyof StoredRow)[]): JsonObject {
  const members = row as JsonObject;
  return Object.fromEntries(names.map(name => [name, members[name] ?? null]));
}

function receiptFault(birth: JsonObject, receipt: StoredRow['receipt']): BookDamageKind | null {
  if (receipt === null) return null;
  if (receipt === 'missing') return 'receipt_missing';
  const { agent_id, seq, amount, payment_ref } = birth;
  const { agent_id: book, book_seq, ...paid } = receipt;
  // A receipt that opened the book was signed before the book existed and names no book, so it can only belong to the first row.
  const opened_it = book === null && book_seq === null && seq === 1;
  const facts = birth.facts as JsonObject;
  // The receipt of a payment that the agent received names the book that paid and the seq there.
  const placed = opened_it || (book === agent_id && book_seq === seq) || isIncome(facts, book);
  // The receipt has the amount of the transfer on the chain, even if the row has no amount because its payer is not proven.
  const observed = facts.observed_amount ?? null;
  const same = placed && paid.amount === (amount ?? observed) && paid.payment_ref === payment_ref;
  return same ? null : 'receipt_differs';
}

function isIncome({ paid_by_agent }: JsonObject, book: number | null): boolean {
  return book !== null && paid_by_agent === book;
}
