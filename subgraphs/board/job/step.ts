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

/* The unpaid steps of a job: checks the party, recognises a step that was taken before, and writes the step with its event. */

export type StepContext = Pick<BoardContext, 'database'>;

/** An unpaid step, taken by the party that `jobMoves` names. */
export interface JobStep {
  readonly action: Exclude<keyof typeof jobMoves, 'bid' | 'pay'>;
  /** Kind of the event of the step, by the state that the step leads to. */
  event(to: JobState): BoardEventKind;
  /** True if a process of the previous version could not read the resulting job or its event. */
  readonly unread_before?: true;
  /** The step ends the current delivery, so it is refused while a payment for that delivery may still move. */
  readonly retires_delivery?: true;
  /**
   * Whether the job shows that the same step was taken before. The job is then returned unchanged, and nothing is written. `state`: the
   * current state of the job.
   */
  wasTaken(job: BoardJob, state: JobState): boolean;
  /** Returns the members of the job that change, except its state. Also writes what the step changes outside the job. */
  take(tx: Tx, job: BoardJob, now_ms: number): Partial<BoardJob> | Promise<Partial<BoardJob>>;
}

/**
 * Reads the job and checks that the agent is the party of the action. Called before anything else is checked. @throws job_not_found,
 * not_a_party
 */
export async function requirePart(
  { database }: StepContext,
  agent_id: AgentId,
  job_id: string,
  action: JobStep['action'],
): Promise<BoardJob> {
  const { job } = await requireJob(database, job_id);
  requireShown(job, [agent_id]);
  const acts = jobMoves[action].by === 'poster' ? job.agentId : job.winnerAgentId;
  // Before a bid is picked, no agent is the winner. The error reveals no more than the job itself.
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

/**
 * Takes the step once. Null if the job was delivered between the two reads, so that another delivery has to be retired. The caller then
 * tries again.
 */
async function stepOnce(tx: Tx, job_id: string, step: JobStep): Promise<ShownJob | null> {
  const retired = step.retires_delivery ? await retireDelivery(tx, job_id, step) : null;
  const { now_ms, ...found } = await lockJob(tx, job_id);
  const { job, under_way } = found;
  const standing = jobStandingOf(found);
  if (step.wasTaken(job, jobStateBy(standing))) return jobView(found);
  const { to } = requireJobMove(judgeJob(standing, step.action));
  // A process of the previous version would fail on every list of jobs or events that contains this job or its event.
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
 * Takes the slot of the current delivery for ever. The claim of the first payment takes the same slot, so that of a payment and a step at
 * the same time one wins and the other is refused before any money moves. Slots are locked before the board's head, as in every transaction
 * that locks both. Null if nothing is delivered.
 */
async function retireDelivery(tx: Tx, job_id: string, step: JobStep) {
  const { job, overdue } = await requireJob(readsOf(tx), job_id);
  if (job.state !== 'delivered' || overdue || step.wasTaken(job, job.state)) return null;
  const slot = deliverySlot(job);
  const missed = await takeFreeSlots(tx, [{ slot, claim_key: `job:${job_id}` }]);
  return { slot, free: missed.length === 0 };
}
