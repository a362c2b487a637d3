import type { AgentId } from '../../../schema/ids.ts';
import type { Database } from '../../database.ts';

/**
 * The task that a row follows from, over that table of rows. A redeemed hand-off follows from the receipt that was handed on,
 * which stands on another book. Those redeemed by earlier versions were born without it, and a birth never changes: of these
 * the receipt, which names it, says it.
 */
export const parentRefOf = (row: string) => `coalesce(${row}.parent_ref, case
  when ${row}.evidence = 'UNVERIFIED' and ${row}.model = '' and ${row}.hub = '' then (
    select t.payload::jsonb->>'parent_receipt_id' from receipt t where t.task_id = ${row}.task_id) end)`;

/**
 * Whether the book has a row of that task, which a call may then follow from: a refused one too, since a call that is tried
 * again follows from the one that was refused. Rows stay where they are, so what is true once is true for good.
 */
export async function isOnBook(database: Database, agent_id: AgentId, task_id: string): Promise<boolean> {
  const found = await database.query({
    name: 'parent on book',
    text: 'select 1 from book_row where agent_id = $1 and task_id = $2',
    values: [agent_id, task_id],
  });
  return found.length > 0;
}
