import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import { iso } from '../../clock.ts';
import type { Tx } from '../../database.ts';
import { appendEvent, type EventRecord, headOf, lockBooks, storeBooks } from './append.ts';
import type { RowName } from './correct.ts';

/**
 * Appends phases of ledger escrows as events of their rows, in order. The events take a position but no seq. Returns the events as
 * written.
 * @throws Refusal book_damaged for all of them
 */
export async function noteEscrows(
  tx: Tx,
  phases: readonly (RowName & { readonly body: JsonObject })[],
): Promise<readonly EventRecord[]> {
  const books = await lockBooks(
    tx,
    phases.map(({ agent_id }) => agent_id),
  );
  const events: EventRecord[] = [];
  for (const { agent_id, seq, task_id, body } of phases) {
    const before = headOf(books, agent_id);
    if (before.damaged) throw new Refusal('book_damaged');
    const { head, event } = appendEvent(before, { kind: 'escrow', seq, task_id, body }, iso(before.now_ms));
    books.set(agent_id, head);
    events.push(event);
  }
  storeBooks(tx, books, events);
  return events;
}
