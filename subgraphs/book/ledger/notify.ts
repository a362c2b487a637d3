import type { NoticeKind } from '../../../schema/book/event.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { iso } from '../../clock.ts';
import type { Tx } from '../../database.ts';
import { appendEvent, type Head, headOf, lockBooks, storeBooks } from './append.ts';

/**
 * Part of the ledger: what another agent did, as an event of no row. Nobody but the owner of a book makes it grow: it is written
 * where the webhook of the book is told of such events, and nowhere else.
 */

/** Locks the head of the book; null where its owner wants no such event, or its audit has closed it. */
export async function lockNotified(tx: Tx, agent_id: AgentId, kind: NoticeKind): Promise<Head | null> {
  const head = headOf(await lockBooks(tx, [agent_id]), agent_id);
  return head.damaged || !head.webhook_kinds?.includes(kind) ? null : head;
}

/** Under that head. */
export function notify(tx: Tx, head: Head, kind: NoticeKind, body: JsonObject): void {
  const told = appendEvent(head, { kind, seq: null, task_id: null, body }, iso(head.now_ms));
  storeBooks(tx, new Map([[head.agent_id as AgentId, told.head]]), [told.event]);
}

/** Whether its owner wants to be told, as it stands now: asked before a job is added that asks once more under the lock. */
export async function wantsNotice(tx: Tx, agent_id: AgentId, kind: NoticeKind): Promise<boolean> {
  const { rows } = await tx.query<{ wants: boolean }>({
    name: 'whether a book wants a notice',
    text: `select coalesce(webhook_kinds ? $2, false) as wants from book where agent_id = $1`,
    values: [agent_id, kind],
  });
  return rows[0]?.wants === true;
}
