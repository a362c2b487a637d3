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

/** A row as it is stored, with what its events say of it. */
export type StoredRow = { readonly [K in RowColumn]: ColumnValue<K> } & {
  /** Bodies of its transitions, in their order. */
  readonly transitions: readonly JsonObject[];
  /** How often its events say that it was replayed. */
  readonly replays: number;
  /** What its signed receipt says; null where none is expected, or that one is damaged itself. */
  readonly receipt: SignedFacts | 'missing' | null;
};

/** What a receipt and the row that it lands as both say. */
export interface SignedFacts {
  readonly agent_id: number | null;
  readonly book_seq: number | null;
  readonly amount: string | null;
  readonly payment_ref: string | null;
}

/** @param told what the event says that the row was born with */
export function auditRow(row: StoredRow, told: JsonObject): BookDamageKind | null {
  const { row_hash, transitions, replays, receipt, replay_count } = row;
  const stored = { ...row, amount: row.amount?.toString() ?? null, collected_at: row.collected_at.toISOString() };
  // A row that moved on no longer shows its birth: its first transition's event keeps that.
  const birth = { ...membersOf(stored, hashedColumns), ...(transitions[0]?.born as JsonObject | undefined) };
  if (canonicalHash(hashedFacts(birth)) !== row_hash) return 'row_altered';
  const { evidence, collected, amount } = birth;
  // Which messages it had for a webhook is of the event, and not of the row.
  const { messages: _, ...told_of_row } = told;
  if (canonicalJson({ evidence, collected, amount, row_hash } as JsonObject) !== canonicalJson(told_of_row))
    return 'row_altered';
  if (!stands(membersOf(stored, changeable), birth, transitions)) return 'row_moved';
  if (replay_count < replays) return 'replays_lost';
  return receiptFault(birth, receipt);
}

/** Whether the columns that transitions change are as the last one left them, or else as they were born. */
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
  // The receipt that opened a book is older than that, and names none: it can only be the first row.
  const opened_it = book === null && book_seq === null && seq === 1;
  const facts = birth.facts as JsonObject;
  // What its agent was paid has the receipt of the book that paid, and its place there.
  const placed = opened_it || (book === agent_id && book_seq === seq) || isIncome(facts, book);
  // The receipt signs what its chain shows also where the row counts nothing, as nobody has proven to be the payer.
  const observed = facts.observed_amount ?? null;
  const same = placed && paid.amount === (amount ?? observed) && paid.payment_ref === payment_ref;
  return same ? null : 'receipt_differs';
}

function isIncome({ paid_by_agent }: JsonObject, book: number | null): boolean {
  return book !== null && paid_by_agent === book;
}
