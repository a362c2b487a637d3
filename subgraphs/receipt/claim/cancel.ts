import type { Database, Tx } from '../../database.ts';
import { CANCELED_CHANNEL, type CanceledNotice } from '../../live-channels.ts';
import type { Lease } from './claim.ts';
import { dropSlots } from './slots.ts';

/** `reason` of a claim that was released because its buyer canceled the task. */
export const CANCELED = 'canceled';

/** Amount that a canceled task had reserved on a book, in atomic USDC. The caller must give it back to the book. */
export interface Canceled {
  readonly agent_id: number | null;
  readonly reserved_atomic: bigint;
}

/**
 * Compare-and-set claimed → released, whichever process works on the task: that process loses its claim before it can send the payment.
 * Null if the payment may have been sent already, or if the task has no payment. The claim counts the cancellation as a failed call: a hub
 * may have worked on the task, and a payment that could be canceled without limit would make hubs work for nothing.
 */
export async function cancelClaim(tx: Tx, task_id: string): Promise<Canceled | null> {
  const { rows } = await tx.query<Canceled & { claim_key: string; payer: string; paid_from_mark: string }>({
    name: 'cancel claim',
    text: `update payment_claim set state = 'released', reason = '${CANCELED}', lease_owner = null, answer_box = null,
        failures = failures + 1, moved_at = now()
      where task_id = $1 and state = 'claimed' returning claim_key, agent_id, reserved_atomic, payer, landing->>'paid_from_mark' as paid_from_mark`,
    values: [task_id],
  });
  const [row] = rows;
  if (!row) return null;
  dropSlots(tx, [row.claim_key]);
  const { claim_key: _key, payer, paid_from_mark, ...canceled } = row;
  notifyCanceled(tx, { task_id, by: { payer, paid_from_mark } });
  return canceled;
}

/**
 * Cancels a call with an API key: nothing was reserved for it, and its Idempotency-Key becomes free. The row keeps the time of the
 * cancellation and the hash of the API key, so that the process working on the call learns that it was canceled, not lost. False if there
 * is no such call, or if it was canceled before.
 */
export async function cancelKeyCall(tx: Tx, task_id: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'cancel key call',
    text: `update key_call set canceled_at = now(),
        canceled_for = (select api_key_hash from idempotent_call i where i.task_id = key_call.task_id and i.answer_box is null)
      where task_id = $1 and canceled_at is null`,
    values: [task_id],
  });
  tx.write({
    name: 'let go of canceled name',
    text: 'delete from idempotent_call where task_id = $1 and answer_box is null',
    values: [task_id],
  });
  if (rowCount === 1) notifyCanceled(tx, { task_id, by: null });
  return rowCount === 1;
}

/** Notifies all processes: the one that works on the task aborts it, and each counts the cancellation against the payer. */
function notifyCanceled(tx: Tx, notice: CanceledNotice): void {
  const values = [CANCELED_CHANNEL, JSON.stringify(notice)];
  tx.write({ name: 'tell of cancel', text: 'select pg_notify($1, $2)', values });
}

/**
 * Notices of those tasks that were canceled, for a process that may have missed the original notices. A payment that was claimed again has
 * another task id, so its canceled task is not found.
 */
export async function canceledTasksAmong(
  database: Pick<Database, 'query'>,
  task_ids: readonly string[],
): Promise<readonly CanceledNotice[]> {
  if (task_ids.length === 0) return [];
  const rows = await database.query<{ task_id: string; payer: string | null; paid_from_mark: string }>({
    name: 'canceled of',
    text: `select task_id, payer, landing->>'paid_from_mark' as paid_from_mark from payment_claim
      where task_id = any($1) and state = 'released' and reason = '${CANCELED}'
      union all select task_id, null, null from key_call where task_id = any($1) and canceled_at is not null`,
    values: [task_ids],
  });
  return rows.map(({ task_id, payer, paid_from_mark }) => ({
    task_id,
    by: payer === null ? null : { payer, paid_from_mark },
  }));
}

/** Whether the claim was canceled while it was held under this lease. */
export async function wasCanceled(tx: Tx, { claim_key, lease_epoch }: Lease): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'was canceled',
    text: `select from payment_claim where claim_key = $1 and lease_epoch = $2 and state = 'released' and reason = '${CANCELED}'`,
    values: [claim_key, lease_epoch],
  });
  return rowCount === 1;
}
