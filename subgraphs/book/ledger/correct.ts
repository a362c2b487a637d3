import type { BookEventKind } from '../../../schema/book/event.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { iso } from '../../clock.ts';
import type { Tx } from '../../database.ts';
import { appendEvent, type EventRecord, type Heads, headOf, lockBooks, storeBooks } from './append.ts';

/* Events of existing rows. They take a position but no seq. */

/** Records that a fact differs from what a row states. The row does not change, and a `correction` event records the difference. */
export async function correct(tx: Tx, corrections: readonly { task_id: string; body: JsonObject }[]): Promise<void> {
  await annotate(tx, 'correction', corrections);
}

/** Appends one event per note to every book with a row of the task. */
async function annotate(
  tx: Tx,
  kind: BookEventKind,
  notes: readonly { task_id: string; body: JsonObject }[],
): Promise<void> {
  const { books, rows } = await lockBooksOf(
    tx,
    notes.map(note => note.task_id),
  );
  const events: EventRecord[] = [];
  for (const { agent_id, seq, task_id } of rows) {
    for (const { body } of notes.filter(note => note.task_id === task_id)) {
      const before = headOf(books, agent_id);
      const { head, event } = appendEvent(before, { kind, seq, task_id, body }, iso(before.now_ms));
      books.set(agent_id, head);
      events.push(event);
    }
  }
  if (events.length > 0) storeBooks(tx, books, events);
}

export interface RowName {
  readonly agent_id: AgentId;
  readonly seq: number;
  readonly task_id: string;
}

/**
 * Locks every book that has rows of these tasks. A row never moves to another book, so the rows are read before the locks are
 * taken.
 */
export async function lockBooksOf(
  tx: Tx,
  task_ids: readonly string[],
): Promise<{ books: Heads; rows: readonly RowName[] }> {
  const { rows } = await tx.query<RowName>({
    name: 'rows of tasks',
    text: 'select agent_id, seq, task_id from book_row where task_id = any($1) order by agent_id, seq',
    values: [[...new Set(task_ids)]],
  });
  const books = await lockBooks(
    tx,
    rows.map(row => row.agent_id),
  );
  return { books, rows };
}
