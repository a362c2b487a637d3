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

/** State of a task by its receipt. Null if it has no receipt; open payments are read elsewhere. */
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

/** States of a receipt or a signed refusal, which never change. A task may have left any other state since it was read. */
const lastingStates: ReadonlySet<TaskState> = new Set<TaskState>(['completed', 'accepted', 'refused']);

/**
 * Outcomes that never change. Any other outcome may have changed to one of these since it was read, and the other facts of the lane with
 * it.
 */
const lastingOutcomes: ReadonlySet<ProofOutcome> = new Set<ProofOutcome>(['settled', 'none']);

/**
 * Returns the task. @throws RefusedWhileHalted (503) while the log is halted, if a later state or outcome, or the task itself, may be lost
 */
export function taskUnlessHalted(database: Database, task: Task | null): Task | null {
  if (task !== null && !lastingStates.has(task.status)) requireNotHalted(database);
  return outcomeUnlessHalted(database, task);
}

/**
 * Returns what was found. @throws RefusedWhileHalted (503) while the log is halted, if a later outcome, or the whole record, may be lost
 */
export function outcomeUnlessHalted<T extends Pick<Receipt, 'proofOutcome'>>(
  database: Database,
  found: T | null,
): T | null {
  if (found === null || !lastingOutcomes.has(found.proofOutcome)) requireNotHalted(database);
  return found;
}

/** Omission rule that is signed in the receipt of a task that came without input. */
export const ACCEPTED_RULE: OmissionRule = 'no_input';

function statusOf({ payload }: Receipt): TaskState {
  const { fulfillment } = JSON.parse(payload) as ReceiptPayload;
  return fulfillment.output_commitment?.omission_rule === ACCEPTED_RULE ? 'accepted' : 'completed';
}
