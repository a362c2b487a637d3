import { Refusal } from '../../../schema/errors.ts';
import type { Tx } from '../../database.ts';
import { isTaskKnown } from '../../receipt/claim/task-status.ts';

/**
 * Takes a task id that the caller chose for a row, permanently and across all books, because receipts, arrivals and replays are
 * found by it. The second of two concurrent requests waits for the first. Must be called before any head is locked.
 * @throws Refusal duplicate_task
 */
export async function takeTask(tx: Tx, task_id: string): Promise<void> {
  await tx.query({
    name: 'lock task',
    text: `select pg_advisory_xact_lock(hashtextextended('task ' || $1, 0))`,
    values: [task_id],
  });
  const standing = await tx.query({
    name: 'row of that task on any book',
    text: 'select 1 from book_row where task_id = $1 limit 1',
    values: [task_id],
  });
  if (standing.rows.length > 0 || (await isTaskKnown(tx, task_id)))
    throw new Refusal('duplicate_task', { param: 'task_id' });
}
