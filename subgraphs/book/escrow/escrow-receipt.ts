import type { Database } from '../../database.ts';
import { readReceipts } from '../../receipt/receipt/find.ts';

/** Of a task; null where there is none. @throws record_damaged where it does not stand as it was signed */
export async function escrowReceipt(reads: Pick<Database, 'query'>, task_id: string) {
  const [receipt = null] = await readReceipts(reads, [task_id]);
  if (receipt instanceof Error) throw receipt;
  return receipt;
}
