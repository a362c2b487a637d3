import type { AtomicAmount } from '../../../schema/amount.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { Evidence } from '../../../schema/evidence.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Database, Tx } from '../../database.ts';
import { readReceipts } from '../../receipt/receipt/find.ts';

/** Facts of a row that an escrow depends on. */
interface RestingRow {
  readonly seq: number;
  readonly evidence: Evidence;
  readonly amount: AtomicAmount | null;
}

/** The row of a task on a book. Null if there is none. Call it under the lock of the head, because the evidence can still change. */
export async function rowOfTask(tx: Tx, agent_id: AgentId, task_id: string): Promise<RestingRow | null> {
  const { rows } = await tx.query<RestingRow>({
    name: 'row that an escrow rests on',
    text: 'select seq, evidence, amount from book_row where agent_id = $1 and task_id = $2',
    values: [agent_id, task_id],
  });
  return rows[0] ?? null;
}

/** The collected row of a task. @throws not_found if the book has no row of the task, escrow_not_collected */
export async function requireCollectedRow(
  tx: Tx,
  agent_id: AgentId,
  task_id: string,
): Promise<{ readonly seq: number; readonly amount: AtomicAmount }> {
  const row = await rowOfTask(tx, agent_id, task_id);
  if (!row) throw new Refusal('not_found', { param: 'task_id', detail: 'The book has no row with this task_id.' });
  const { seq, evidence, amount } = row;
  if (evidence !== 'collected' || amount === null) throw new Refusal('escrow_not_collected', { param: 'task_id' });
  return { seq, amount };
}

/** The receipt of a task. Null if there is none. @throws record_damaged if it differs from what was signed */
export async function escrowReceipt(reads: Pick<Database, 'query'>, task_id: string) {
  const [receipt = null] = await readReceipts(reads, [task_id]);
  if (receipt instanceof Error) throw receipt;
  return receipt;
}
