import type { BoardEventKind } from '../../../schema/board/event.ts';
import type { JobState } from '../../../schema/board/job.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { legLimits } from '../../../schema/limits.ts';
import { writeInTurn } from '../../book/write-in-turn.ts';
import { asRecord } from '../../columns.ts';
import { type Tx, updateRow } from '../../database.ts';
import { earlierServes } from '../../receipt/claim/lease.ts';
import { takeFreeSlots } from '../../receipt/claim/slots.ts';
import { readsOf } from '../../transaction.ts';
import type { BoardContext } from '../context.ts';
import { appendBoardEvents } from '../event/append.ts';
import { jobStandingOf, lockJob, requireJob, requireShown } from './find.ts';
import type { BoardJob } from './job.entity.ts';
import { expiringStates, jobMoves, jobStateBy, judgeJob, requireJobMove } from './job.machine.ts';
import type { ShownJob } from './job.type.ts';
import { deliverySlot } from './legs.ts';
import { jobView } from './view.ts';

/* An unpaid step of a job: who may take it, whether it was taken, and its write with its event. */

export type StepContext = Pick<BoardContext, 'database'>;

/** An unpaid step, by the party that the job's table names. */
export interface JobStep {
  readonly action: Exclude<keyof typeof jobMoves, 'bid' | 'pay'>;
  /** Kind of its event, by the state that it leads to. */
  event(to: JobState): BoardEventKind;
  /** A process of the previous version could not read the resulting job, nor its event. */
  readonly unread_before?: true;
  /** The step ends the current delivery, so it is refused while a payment for that delivery may still move. */
  readonly retires_delivery?: true;
  /**
   * Whether the job shows that this same step was taken before. The job is then returned as it is, and nothing is written. `state`: the
   * state of the job at this time.
   */
  wasTaken(job: BoardJob, state: JobState): boolean;
  /** The members of the job that change, except its state. Also writes what belongs to the step besides the job. */
  take(tx: Tx, job: BoardJob, now_ms: number): Partial<BoardJob> | Promise<Partial<BoardJob>>;
}

/** Called before anything else is checked. @throws job_not_found, not_a_party */
export async function requirePart(
  { database }: StepContext,
  agent_id: AgentId,
  job_id: string,
  action: JobStep['action'],
): Promise<BoardJob> {
  const { job } = await requireJob(database, job_id);
  requireShown(job, [agent_id]);
  const acts = jobMoves[action].by === 'poster' ? job.agentId : job.winnerAgentId;
  // A job without a winner has no winning party; the error reveals no more than the job itself.
  if (acts !== agent_id) throw new Refusal('not_a_party');
  return job;
}

/**
 * Takes a step under the lock of the board's head, so that the second of two concurrent steps sees the result of the first.
 * @throws job_not_found, job_state_conflict, job_leg_in_flight, rate_limited, unavailable
 */
export function takeStep(
  { database }: StepContext,
  agent_id: AgentId,
  job_id: string,
  step: JobStep,
): Promise<ShownJob> {
  return writeInTurn(agent_id, async () => {
    for (;;) {
      const shown = await database.transaction(tx => stepOnce(tx, job_id, step));
      if (shown !== null) return shown;
    }
  });
}

const UPGRADING = {
  detail:
    'The service is being upgraded, and its previous version cannot read what this request writes. Try again after the upgrade.',
  facts: { retry_after_seconds: 60 },
};

/** Null if the job was delivered between the two reads, so that the delivery to retire is another one. The step is then tried again. */
async function stepOnce(tx: Tx, job_id: string, step: JobStep): Promise<ShownJob | null> {
  const retired = step.retires_delivery ? await retireDelivery(tx, job_id, step) : null;
  const { now_ms, ...found } = await lockJob(tx, job_id);
  const { job, under_way } = found;
  const standing = jobStandingOf(found);
  if (step.wasTaken(job, jobStateBy(standing))) return jobView(found);
  const { to } = requireJobMove(judgeJob(standing, step.action));
  // A process of the previous version would fail to answer every list of jobs and events that has one of these.
  if (step.unread_before && (await earlierServes(tx))) throw new Refusal('unavailable', UPGRADING);
  if (step.retires_delivery && job.state === 'delivered') {
    if (retired?.slot !== deliverySlot(job)) return null;
    // A process of the previous version may have claimed a payment without the slot of its delivery.
    if (!retired.free || under_way || job.legOneTaskId !== null)
      throw new Refusal('job_leg_in_flight', { facts: { retry_after_seconds: legLimits.retry_seconds } });
  }
  const taken = await step.take(tx, job, now_ms);
  const changed = { ...taken, state: to, ...(expiringStates.includes(to) ? {} : { endsAt: null }) };
  updateRow(tx, 'board_job', ['job_id', job_id], asRecord(changed));
  appendBoardEvents(tx, [{ kind: step.event(to), job_id, at_ms: now_ms }]);
  return jobView({ ...found, job: Object.assign(job, changed) });
}

/**
 * Each delivery has a slot, taken by the first payment with its claim, or for good by what ends the delivery: of two at
 * once one wins, and the other is refused before any money moves. Slots are locked before the board's head, as in every
 * transaction that locks both. Null if nothing is delivered.
 */
async function retireDelivery(tx: Tx, job_id: string, step: JobStep) {
  const { job, overdue } = await requireJob(readsOf(tx), job_id);
  if (job.state !== 'delivered' || overdue || step.wasTaken(job, job.state)) return null;
  const slot = deliverySlot(job);
  const missed = await takeFreeSlots(tx, [{ slot, claim_key: `job:${job_id}` }]);
  return { slot, free: missed.length === 0 };
}
