import type { Refusal } from '../../../schema/errors.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import { recordDamaged } from '../damaged-record.ts';
import { Receipt } from './receipt.entity.ts';
import { receiptFault } from './stored-check.ts';

/**
 * The receipts of these tasks, in the order of `task_ids`; null for a task without a receipt. Runs one prepared statement. @throws Refusal
 * record_damaged if one of them is not stored as it was signed
 */
export async function receiptsByTask(database: Database, task_ids: readonly string[]): Promise<(Receipt | null)[]> {
  const found = await readReceipts(database, task_ids);
  return found.map(receipt => {
    if (receipt instanceof Error) throw receipt;
    return receipt;
  });
}

/** Like `receiptsByTask`, but returns a Refusal in place of a damaged receipt, so that the others are still read. */
export async function readReceipts(
  database: Pick<Database, 'query'>,
  task_ids: readonly string[],
): Promise<(Receipt | Refusal | null)[]> {
  if (task_ids.length === 0) return [];
  const rows = await database.query<{ taskId: string }>({
    name: 'receipts by task',
    text: `select ${selectList(Receipt)} from receipt where task_id = any($1)`,
    values: [task_ids],
  });
  const found = new Map(rows.map(row => [row.taskId, asSigned(database, asEntity(Receipt, row))]));
  return task_ids.map(task_id => found.get(task_id) ?? null);
}

function asSigned(database: Pick<Database, 'query'>, receipt: Receipt): Receipt | Refusal {
  const column = receiptFault(receipt);
  return column === null ? receipt : recordDamaged(database, { record: 'receipt', id: receipt.taskId, column });
}

/** Agent ids of the books of the newest receipts. `receipts`: how many receipts are read. */
export async function booksOfNewestReceipts(database: Database, receipts: number): Promise<number[]> {
  const books = await database.query<{ agent_id: number }>({
    text: `select distinct agent_id from (select agent_id from receipt order by leaf_index desc limit $1) newest
      where agent_id is not null`,
    values: [receipts],
  });
  return books.map(({ agent_id }) => agent_id);
}
