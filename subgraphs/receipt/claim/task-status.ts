import { refusalUrl, verifyUrl } from '../../../schema/links.ts';
import type { Database, Tx } from '../../database.ts';
import { recordedTask, type Task } from '../receipt/task-status.ts';
import { refusalById } from '../refusal/find.ts';
import { CANCELED } from './cancel.ts';
import type { ClaimState } from './claim.machine.ts';

/**
 * Public state of a task by the state of its claim. A recorded task is reported by its receipt, which says more. A released payment can
 * still be used until it expires.
 */
const statuses: Record<ClaimState, { status: Task['status']; proof: Task['proofOutcome'] }> = {
  claimed: { status: 'working', proof: 'pending' },
  settling: { status: 'settling', proof: 'pending' },
  held: { status: 'settling', proof: 'pending' },
  recorded: { status: 'completed', proof: 'settled' },
  released: { status: 'released', proof: 'pending' },
};

/** Public state of a task that its buyer canceled. */
const canceled = { status: 'canceled', proof: 'none' } as const;

interface TaskRow extends Record<string, unknown> {
  readonly state: ClaimState | null;
  /** Whether no payment can follow. Always true for a call with an API key, which has no payment. */
  readonly final: boolean;
  readonly canceled: boolean;
  readonly refusal_id: string | null;
}

/** State of a task, from its claim on. Null for an unknown id. A released payment is soon deleted, and its task is then unknown. */
export async function findTask(database: Database, base_url: string, task_id: string): Promise<Task | null> {
  const recorded = await recordedTask(database, base_url, task_id);
  if (recorded) return recorded;
  const [found] = await database.query<TaskRow>({
    name: 'claim or refusal of task',
    text: `select null as state, true as final, false as canceled, refusal_id from refusal where task_id = $1
      union all select state, final, coalesce(reason = '${CANCELED}', false), null from payment_claim where task_id = $1
      union all select case when canceled_at is null then 'claimed' else 'released' end, true, canceled_at is not null, null
        from key_call where task_id = $1 order by refusal_id limit 1`,
    values: [task_id],
  });
  if (found?.refusal_id) {
    // Checks the signature: only a refusal that is stored as it was signed proves that there will never be a payment.
    await refusalById(database, found.refusal_id);
    return refusedTask(task_id, refusalUrl(base_url, found.refusal_id));
  }
  if (!found?.state) return null;
  const { status, proof } = found.state === 'released' && found.canceled ? canceled : statuses[found.state];
  const proofOutcome = found.final ? 'none' : proof;
  return { taskId: task_id, status, proofOutcome, paymentRef: null, verifyUrl: verifyUrl(base_url, task_id) };
}

/**
 * State of a task that its book refused: nothing was charged, and there will never be a receipt. Refusals are kept after the claim is
 * deleted.
 */
function refusedTask(taskId: string, verifyUrl: string): Task {
  return { taskId, status: 'refused', proofOutcome: 'none', paymentRef: null, verifyUrl };
}

/** Whether a task with this id has a receipt or a refusal, or is in progress, so that the id cannot be used again. */
export async function isTaskKnown(tx: Tx, task_id: string): Promise<boolean> {
  const { rows } = await tx.query<{ known: boolean }>({
    name: 'known task',
    text: `select exists (select from receipt where task_id = $1) or exists (select from payment_claim where task_id = $1)
      or exists (select from key_call where task_id = $1) or exists (select from refusal where task_id = $1) as known`,
    values: [task_id],
  });
  return rows[0]?.known ?? false;
}
