import { expect } from 'vitest';
import { canonicalHash } from '../../schema/digest.ts';
import type { EventRecord, Head, RowRecord } from '../../subgraphs/book/row/append.ts';
import { iso } from '../../subgraphs/clock.ts';
import type { Database } from '../../subgraphs/database.ts';

type StoredRow = Omit<RowRecord, 'amount' | 'collected_at'> & { amount: bigint | null; collected_at: Date };
type StoredEvent = Omit<EventRecord, 'at'> & { at: Date };

/** Rows and events follow each other without a gap, each bound to the one before; the head is the last of them. */
export async function auditBooks(database: Database): Promise<void> {
  const books = await database.query<Head>({ text: 'select * from book order by agent_id' });
  const rows = await database.query<StoredRow>({ text: `select ${ROW_COLUMNS} from book_row order by agent_id, seq` });
  const events = await database.query<StoredEvent>({ text: 'select * from book_event order by agent_id, position' });
  for (const book of books) {
    const own = <T extends { agent_id: number }>(all: readonly T[]) => all.filter(it => it.agent_id === book.agent_id);
    auditRows(book, own(rows));
    auditEvents(book, own(events));
  }
}

const ROW_COLUMNS = `task_id, evidence, collected, payment_ref, transfer_index, rail, amount, model, hub, intent_id,
  attempt_index, payer_wallet, settled_by, parent_ref, recorded_by, arrival_status, fulfillment, facts, agent_id, seq,
  collected_at, prev_row_hash, row_hash`;

function auditRows(book: Head, rows: readonly StoredRow[]): void {
  expect(rows.map(row => row.seq)).toEqual(oneTo(book.seq));
  let before = '';
  for (const { row_hash, amount, collected_at, ...facts } of rows) {
    const born = { ...facts, amount: amount?.toString() ?? null, collected_at: iso(collected_at.getTime()) };
    expect(born.prev_row_hash).toBe(before);
    expect(canonicalHash(born)).toBe(row_hash);
    before = row_hash;
  }
  expect(book.row_hash).toBe(before);
  expect(book.spent_atomic).toBe(rows.reduce((sum, row) => sum + (row.amount ?? 0n), 0n));
  // Nothing is in flight any more, so nothing may still be held.
  expect(book.reserved_atomic).toBe(0n);
}

function auditEvents(book: Head, events: readonly StoredEvent[]): void {
  expect(events.map(event => event.position)).toEqual(oneTo(book.position));
  let before = '';
  for (const { hash, at, ...facts } of events) {
    expect(facts.prev_hash).toBe(before);
    expect(canonicalHash({ ...facts, at: iso(at.getTime()) })).toBe(hash);
    before = hash;
  }
  expect(book.event_hash).toBe(before);
}

export function oneTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}
