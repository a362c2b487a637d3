import 'reflect-metadata';
import { verifyUrl } from '../../../schema/links.ts';
import type { ProofOutcome } from '../../../schema/receipt-payload.ts';
import type { ReceiptPayload } from '../../../schema/receipt-shapes.ts';
import { TaskStatusNoun } from '../../../schema/settlement.ts';
import type { TaskState } from '../../../schema/task-state.ts';
import type { Database } from '../../database.ts';
import { objectType } from '../../graph-type.ts';
import type { OmissionRule } from '../../sale.ts';
import { requireNotHalted } from '../log/halt-guard.ts';
import { receiptsByTask } from './find.ts';
import type { Receipt } from './receipt.entity.ts';

export const Task = objectType(
  'TaskStatus',
  'Where a task stands: its state, what is known of its payment, and the URL of its page.',
  TaskStatusNoun,
);
export type Task = InstanceType<typeof Task>;

/** State of a task by its receipts; open payments are read elsewhere. */
export async function recordedTask(database: Database, base_url: string, task_id: string): Promise<Task | null> {
  const [receipt] = await receiptsByTask(database, [task_id]);
  if (!receipt) return null;
  return {
    taskId: task_id,
    status: statusOf(receipt),
    proofOutcome: receipt.proofOutcome,
    paymentRef: receipt.paymentRef,
    verifyUrl: verifyUrl(base_url, task_id),
  };
}

/** Those of a receipt or a signed refusal, which never change; any other may be one that the task has left since. */
const lastingStates: ReadonlySet<TaskState> = new Set<TaskState>(['completed', 'accepted', 'refused']);

/** The unsigned facts that never change once they are known. Any other outcome may have become one of these, and the lane with it. */
const lastingOutcomes: ReadonlySet<ProofOutcome> = new Set<ProofOutcome>(['settled', 'none']);

/** @throws RefusedWhileHalted 503 where another state or outcome may be lost, or the task itself */
export function taskUnlessHalted(database: Database, task: Task | null): Task | null {
  if (task !== null && !lastingStates.has(task.status)) requireNotHalted(database);
  return outcomeUnlessHalted(database, task);
}

/** @throws RefusedWhileHalted 503 where another outcome may be lost, or all of it */
export function outcomeUnlessHalted<T extends Pick<Receipt, 'proofOutcome'>>(
  database: Database,
  found: T | null,
): T | null {
  if (found === null || !lastingOutcomes.has(found.proofOutcome)) requireNotHalted(database);
  return found;
}

/** Signed in the receipt of a task that came without input. */
export const ACCEPTED_RULE: OmissionRule = 'no_input';

function statusOf({ payload }: Receipt): TaskState {
  const { fulfillment } = JSON.parse(payload) as ReceiptPayload;
  return fulfillment.output_commitment?.omission_rule === ACCEPTED_RULE ? 'accepted' : 'completed';
}
