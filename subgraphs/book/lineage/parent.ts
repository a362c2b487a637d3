import type { AgentId } from '../../../schema/ids.ts';
import type { Database } from '../../database.ts';

/**
 * SQL for the parent task of the row with this alias. The parent of a redeemed hand-off is on another book. Rows that earlier
 * versions wrote for redeemed hand-offs do not store it, so it is read from the receipt.
 */
export const parentRefOf = (row: string) => `coalesce(${row}.parent_ref, case
  when ${row}.evidence = 'UNVERIFIED' and ${row}.model = '' and ${row}.hub = '' then (
    select t.payload::jsonb->>'parent_receipt_id' from receipt t where t.task_id = ${row}.task_id) end)`;

/**
 * Whether the book has a row of this task, so that a call can name the task as its parent. A refused row counts, because a retry
 * follows from it. Rows never move, so the answer stays true.
 */
export async function isOnBook(database: Database, agent_id: AgentId, task_id: string): Promise<boolean> {
  const found = await database.query({
    name: 'parent on book',
    text: 'select 1 from book_row where agent_id = $1 and task_id = $2',
    values: [agent_id, task_id],
  });
  return found.length > 0;
}
