import type { NoticeKind } from '../../../schema/book/event.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { iso } from '../../clock.ts';
import type { Tx } from '../../database.ts';
import { appendEvent, type Head, headOf, lockBooks, storeBooks } from './append.ts';

/**
 * Records an act of another agent as an event without a row. The event is written only if the webhook of the book subscribes to its
 * kind, because only the owner may let a book grow.
 */

/**
 * Locks the head of the book. Returns null if its webhook does not subscribe to this kind of event, or if the audit has closed the
 * book.
 */
export async function lockNotified(tx: Tx, agent_id: AgentId, kind: NoticeKind): Promise<Head | null> {
  const head = headOf(await lockBooks(tx, [agent_id]), agent_id);
  return head.damaged || !head.webhook_kinds?.includes(kind) ? null : head;
}

/** Writes the event. `head` must come from `lockNotified`. */
export function notify(tx: Tx, head: Head, kind: NoticeKind, body: JsonObject): void {
  const appended = appendEvent(head, { kind, seq: null, task_id: null, body }, iso(head.now_ms));
  storeBooks(tx, new Map([[head.agent_id as AgentId, appended.head]]), [appended.event]);
}

/** Whether the webhook subscribes to this kind of event now. Checked before a job is added; the job checks again under the lock. */
export async function wantsNotice(tx: Tx, agent_id: AgentId, kind: NoticeKind): Promise<boolean> {
  const { rows } = await tx.query<{ wants: boolean }>({
    name: 'whether a book wants a notice',
    text: `select coalesce(webhook_kinds ? $2, false) as wants from book where agent_id = $1`,
    values: [agent_id, kind],
  });
  return rows[0]?.wants === true;
}
