import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import { Receipt } from './receipt.entity.ts';

/** The receipts of these tasks, in their order; null where there is none. One prepared statement. */
export async function receiptsByTask(database: Database, task_ids: readonly string[]): Promise<(Receipt | null)[]> {
  const rows = await database.query<{ taskId: string }>({
    name: 'receipts by task',
    text: `select ${selectList(database.orm, Receipt)} from receipt where task_id = any($1)`,
    values: [task_ids],
  });
  const found = new Map(rows.map(row => [row.taskId, asEntity(Receipt, row)]));
  return task_ids.map(task_id => found.get(task_id) ?? null);
}
