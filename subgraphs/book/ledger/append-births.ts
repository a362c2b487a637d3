import type { RowBirth, RowRecord } from '../../../schema/book-row.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Tx } from '../../database.ts';
import { appendRow, type EventRecord, type Heads, headOf, lockBooks, storeBirths, storeBooks } from './append.ts';

/** A row that is to be born on a book, and no receipt with it. */
export interface Birth {
  readonly agent_id: AgentId;
  readonly birth: RowBirth;
  /** Money behind it has moved: it lands on a book that is closed, too. */
  readonly owed: boolean;
  /** When it was collected; where nobody says, the database's time under the head's lock. */
  readonly at_ms?: number;
}

/**
 * Part of the ledger: rows that are born without a receipt of this transaction, in their order, counted like all others.
 * Returns them as they were written. @throws Refusal book_damaged, of all of them
 */
export async function append(tx: Tx, births: readonly Birth[]): Promise<readonly RowRecord[]> {
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
  storeBirths(tx, rows);
  storeBooks(tx, books, events);
  return rows;
}

/** Locks them in the order of their ids. @throws Refusal book_damaged where one of them takes nothing new */
export async function lockSoundBooks(tx: Tx, agent_ids: readonly AgentId[]): Promise<void> {
  requireSound(await lockBooks(tx, agent_ids), agent_ids);
}

function requireSound(books: Heads, agent_ids: readonly AgentId[]): void {
  if (agent_ids.some(agent_id => headOf(books, agent_id).damaged)) throw new Refusal('book_damaged');
}
