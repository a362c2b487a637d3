import type { InitialFacts, RowRecord } from '../../../schema/book-row.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Tx } from '../../database.ts';
import { appendRow, type EventRecord, type Heads, headOf, lockBooks, storeBooks, storeNewRows } from './append.ts';

/** New row for which this transaction issues no receipt. */
export interface NewRow {
  readonly agent_id: AgentId;
  readonly birth: InitialFacts;
  /** True if its payment has already moved. Such a row is recorded even on a book that the audit closed. */
  readonly owed: boolean;
  /** Time at which it was collected (ms). Default: the time of the database under the head's lock. */
  readonly at_ms?: number;
}

/**
 * Appends rows in order and counts them. No receipt is issued for them here. Returns the rows as written.
 * @throws Refusal book_damaged for all of them
 */
export async function appendNewRows(tx: Tx, births: readonly NewRow[]): Promise<readonly RowRecord[]> {
  const books = await lockBooks(
    tx,
    births.map(({ agent_id }) => agent_id),
  );
  requireSound(
    books,
    births.flatMap(({ agent_id, owed }) => (owed ? [] : [agent_id])),
  );
  const rows: RowRecord[] = [];
  const events: EventRecord[] = [];
  for (const { agent_id, birth, at_ms } of births) {
    const before = headOf(books, agent_id);
    const { head, row, event } = appendRow(before, birth, at_ms ?? before.now_ms);
    books.set(agent_id, head);
    rows.push(row);
    events.push(event);
  }
  storeNewRows(tx, rows);
  storeBooks(tx, books, events);
  return rows;
}

/**
 * Locks heads in the order of their ids.
 * @throws Refusal book_damaged if the audit has closed one of the books
 */
export async function lockSoundBooks(tx: Tx, agent_ids: readonly AgentId[]): Promise<void> {
  requireSound(await lockBooks(tx, agent_ids), agent_ids);
}

function requireSound(books: Heads, agent_ids: readonly AgentId[]): void {
  if (agent_ids.some(agent_id => headOf(books, agent_id).damaged)) throw new Refusal('book_damaged');
}
