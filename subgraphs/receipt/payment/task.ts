import type { Database } from '../../database.ts';
import { verifyUrl } from '../receipt/document.ts';
import { recordedTask, type Task } from '../receipt/task.ts';
import type { ClaimState } from './claim.machine.ts';

/** What an open claim looks like from outside; a recorded one has a receipt, which says more. */
const statuses: Record<ClaimState, { status: string; proof: Task['proofOutcome'] }> = {
  claimed: { status: 'working', proof: 'pending' },
  settling: { status: 'settling', proof: 'pending' },
  recorded: { status: 'completed', proof: 'settled' },
  released: { status: 'released', proof: 'pending' },
};

/** Where a task stands, from its claim on; null for an id that nobody has: a released payment is soon forgotten. */
export async function findTask(database: Database, base_url: string, task_id: string): Promise<Task | null> {
  const recorded = await recordedTask(database, base_url, task_id);
  if (recorded) return recorded;
  const [claim] = await database.query<{ state: ClaimState }>({
    name: 'claim of task',
    text: 'select state from payment_claim where task_id = $1',
    values: [task_id],
  });
  if (!claim) return null;
  const { status, proof } = statuses[claim.state];
  return { taskId: task_id, status, proofOutcome: proof, paymentRef: null, verifyUrl: verifyUrl(base_url, task_id) };
}
