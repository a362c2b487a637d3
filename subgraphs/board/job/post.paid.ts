import { type AtomicAmount, atomicAmount } from '../../../schema/amount.ts';
import { deadlineMs, judgeDeadline } from '../../../schema/board/deadline.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { jobLimits } from '../../../schema/limits.ts';
import { asRecord, newRow } from '../../columns.ts';
import { insertRows, type Tx } from '../../database.ts';
import type { Stamp, StampContext } from '../../sale.ts';
import { appendBoardEvents, lockBoard } from '../event/append.ts';
import { boardId, boardStamp } from '../stamp.ts';
import { countJobs } from './agent-day.ts';
import { BoardJob } from './job.entity.ts';
import { jobView, sealable } from './view.ts';

/** Arguments of a posted job, to which the payment of the stamp is bound. */
export type PostJobArgs = {
  readonly agent_id: AgentId;
  readonly text: string;
  readonly budget: string;
  readonly deadline: string;
  readonly acceptance_test: string | null;
};

/** A posted job is sold as a stamp. */
export const postJobPaid: Stamp<PostJobArgs, JsonObject> = {
  ...boardStamp,
  field: 'Mutation.postJob',
  async admit({ deadline }, _payer, { clock }) {
    const verdict = judgeDeadline(deadline, clock.now_ms());
    if (verdict.kind === 'within') return;
    const days = jobLimits.deadline_seconds_max / 86_400;
    const why = verdict.kind === 'past' ? 'must not be in the past' : `must not be more than ${days} days ahead`;
    throw new Refusal('invalid_request', { param: 'deadline', detail: `deadline ${why}.` });
  },
  commit: post,
};

/** Amount from decimal digits that were validated before. */
export const amountOf = (digits: string): AtomicAmount => atomicAmount(BigInt(digits));

/**
 * Records a posted job. A job whose deadline has passed since the payment is recorded too: it has expired by then, and the next round
 * records that.
 */
async function post(tx: Tx, args: PostJobArgs, { task_id, recorded_at_ms: at_ms }: StampContext): Promise<JsonObject> {
  lockBoard(tx);
  const deadline = new Date(deadlineMs(args.deadline));
  const job = newRow<BoardJob, 'deliveriesRetired' | 'refusals'>(BoardJob, {
    jobId: boardId('job', task_id),
    agentId: args.agent_id,
    state: 'open',
    stampTaskId: task_id,
    untrustedText: args.text,
    untrustedAcceptanceTest: args.acceptance_test,
    budgetAtomic: amountOf(args.budget),
    deadline,
    endsAt: deadline,
    postedAt: new Date(at_ms),
    bidCount: 0,
    hidden: false,
  });
  insertRows(tx, 'board_job', [asRecord(job)]);
  countJobs(tx, [{ agent_id: args.agent_id, counter: 'jobs_posted' }], at_ms);
  appendBoardEvents(tx, [{ kind: 'job_posted', job_id: job.jobId, at_ms }]);
  return sealable(jobView({ job, overdue: deadline.getTime() <= at_ms, under_way: false }));
}
