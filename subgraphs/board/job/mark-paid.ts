import { Refusal } from '../../../schema/errors.ts';
import { jobLimits } from '../../../schema/limits.ts';
import type { Database, Tx } from '../../database.ts';
import { appendBoardEvents, lockBoard } from '../event/append.ts';
import { type FoundJob, jobStandingOf, requireJob } from './find.ts';
import type { BoardJob } from './job.entity.ts';
import { judgeJob, requireJobMove, settledFrom } from './job.machine.ts';
import { type JobLegs, legsOf } from './legs.ts';

/** A job whose next leg may be paid. */
export interface PayableJob {
  readonly job: BoardJob;
  readonly legs: JobLegs;
}

/** A job that is delivered and not paid. It must be in time, or its first leg must be paid. @throws job_not_found, job_state_conflict */
export async function payableJob(database: Pick<Database, 'query'>, job_id: string): Promise<PayableJob> {
  return asPayable(await requireJob(database, job_id));
}

/** Checks a job that was read already as `payableJob` does. @throws job_state_conflict */
export function asPayable(found: FoundJob): PayableJob {
  const { job } = found;
  const half_paid = job.legOneTaskId !== null && settledFrom.includes(job.state);
  if (!half_paid) requireJobMove(judgeJob(jobStandingOf(found), 'pay'));
  const legs = legsOf(job);
  if (legs === null) throw new Refusal('job_state_conflict');
  return { job, legs };
}

/**
 * Records that the first leg has settled. From then on the job waits for the second leg and does not expire. Never throws a refusal,
 * because the money has moved.
 */
export function markLegOne(
  tx: Tx,
  job_id: string,
  { task_id, payment_ref }: { readonly task_id: string; readonly payment_ref: string },
): void {
  lockBoard(tx);
  tx.write({
    name: 'mark leg one of job',
    text: `update board_job set state = 'delivered', ends_at = null, leg_one_task_id = $2, leg_one_payment_ref = $3
      where job_id = $1 and state = any($4) and delivered_at is not null`,
    values: [job_id, task_id, payment_ref, settledFrom],
  });
}

/**
 * Records that the chain does not have the first payment after all. The payment is requested again for as long as any delivered job can be
 * paid, and for at least `pay_again_within_seconds` from now.
 */
export function unmarkLegOne(tx: Tx, job_id: string, task_id: string): void {
  lockBoard(tx);
  tx.write({
    name: 'unmark leg one of job',
    text: `${UNMARK} where job_id = $3 and leg_one_task_id = $4 and state = 'delivered'`,
    values: [...AGAIN_WITHIN, job_id, task_id],
  });
}

/** Does the same as `unmarkLegOne` for all these tasks, whose chain no longer exists. Reads every job. */
export function unmarkLegOnes(tx: Tx, task_ids: readonly string[]): void {
  lockBoard(tx);
  tx.write({
    text: `${UNMARK} where leg_one_task_id = any($3) and state = 'delivered'`,
    values: [...AGAIN_WITHIN, task_ids],
  });
}

const UNMARK = `update board_job set leg_one_task_id = null, leg_one_payment_ref = null,
  ends_at = greatest(deadline + make_interval(secs => $1), clock_timestamp() + make_interval(secs => $2))`;
const AGAIN_WITHIN = [jobLimits.pay_within_seconds, jobLimits.pay_again_within_seconds];

/** Records that both legs have settled, under this task. Never throws a refusal, because the money has moved. */
export async function markPaid(
  tx: Tx,
  job_id: string,
  { task_id, fee_ref, at_ms }: { readonly task_id: string; readonly fee_ref: string | null; readonly at_ms: number },
): Promise<void> {
  lockBoard(tx);
  const { rowCount } = await tx.query({
    name: 'mark job paid',
    text: `update board_job set state = 'paid', ends_at = null, payout_task_id = $2, paid_at = to_timestamp($3::float8 / 1000),
        fee_payment_ref = $5
      where job_id = $1 and state = any($4) and delivered_at is not null`,
    values: [job_id, task_id, at_ms, settledFrom, fee_ref],
  });
  if (rowCount === 1) appendBoardEvents(tx, [{ kind: 'job_paid', job_id, at_ms }]);
}
