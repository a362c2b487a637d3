import type { BidState, JobAction, JobState } from '../../../schema/board/job.ts';
import { Refusal } from '../../../schema/errors.ts';
import { jobLimits } from '../../../schema/limits.ts';

/*
 * State machine of a job: a table of the legal moves and their parties, and the functions that read it. Pure: the caller passes facts about
 * the time.
 */

/** Party that may make a move. Any agent except the poster may bid; the winner is one of the bidders. */
type JobParty = 'poster' | 'bidder' | 'winner';

interface JobMove {
  readonly by: JobParty;
  readonly from: readonly JobState[];
  readonly to: JobState;
  /** State that the move leads to instead if no other delivery may follow. */
  readonly to_at_last?: JobState;
}

/** All legal moves. A delivered job may be delivered again, with another hash. A challenge does not change the state of a paid job. */
export const jobMoves: Readonly<Record<JobAction, JobMove>> = {
  bid: { by: 'bidder', from: ['open'], to: 'open' },
  pick: { by: 'poster', from: ['open'], to: 'picked' },
  cancel: { by: 'poster', from: ['open'], to: 'cancelled' },
  deliver: { by: 'winner', from: ['picked', 'delivered'], to: 'delivered' },
  refuse: { by: 'poster', from: ['delivered'], to: 'picked', to_at_last: 'refused' },
  pay: { by: 'poster', from: ['delivered'], to: 'paid' },
  challenge: { by: 'poster', from: ['paid'], to: 'paid' },
  reveal: { by: 'winner', from: ['paid'], to: 'closed' },
};

/** States in which a job ends without further action once its time is over. A paid job does not expire. */
export const expiringStates: readonly JobState[] = ['open', 'picked', 'delivered'];

/**
 * States from which a settled payment leads to `paid`. A delivered job that has expired meanwhile becomes paid too, because a payment that
 * has moved is never refused.
 */
export const settledFrom: readonly JobState[] = ['delivered', 'expired'];

export interface JobStanding {
  readonly state: JobState;
  /** Whether the job's time is over by the database's clock and none of its legs is paid or being paid. */
  readonly overdue: boolean;
  /** Number of deliveries that the poster has refused. */
  readonly refusals: number;
  /** Whether the deadline is over by the database's clock. After a refusal, nothing more can be delivered then. */
  readonly past_deadline: boolean;
}

/** The current state of a job, also if its end is not recorded yet. */
export function jobStateBy({ state, overdue, refusals }: Omit<JobStanding, 'past_deadline'>): JobState {
  if (!overdue || !expiringStates.includes(state)) return state;
  return state === 'picked' && refusals > 0 ? 'refused' : 'expired';
}

/**
 * The current state of a bid, from the current state of its job. An open bid on an expired job has expired, also if that is not recorded
 * yet.
 */
export function bidStateBy(state: BidState, job: JobState): BidState {
  return job === 'expired' && state === 'open' ? 'expired' : state;
}

type JobJudgement =
  | { readonly kind: 'moves'; readonly to: JobState }
  | { readonly kind: 'refused'; readonly state: JobState; readonly legal: readonly JobAction[] };

/** Whether the action is possible in the current state, and the state it leads to. It does not check who acts. */
export function judgeJob(standing: JobStanding, action: JobAction): JobJudgement {
  const state = jobStateBy(standing);
  const { from, to, to_at_last = to } = jobMoves[action];
  if (from.includes(state)) return { kind: 'moves', to: isLastDelivery(standing) ? to_at_last : to };
  const legal = (Object.keys(jobMoves) as JobAction[]).filter(other => jobMoves[other].from.includes(state));
  return { kind: 'refused', state, legal };
}

/** Whether no other delivery may follow the current one. */
function isLastDelivery({ refusals, past_deadline }: JobStanding): boolean {
  return past_deadline || refusals + 1 >= jobLimits.deliveries_refused_max;
}

/** Returns the move if it is possible. @throws job_state_conflict, with the state of the job and the actions that are legal in it */
export function requireJobMove(judgement: JobJudgement): Extract<JobJudgement, { kind: 'moves' }> {
  if (judgement.kind === 'moves') return judgement;
  const { state, legal } = judgement;
  const may = legal.length === 0 ? 'No action is possible' : `Possible actions: ${legal.join(', ')}`;
  throw new Refusal('job_state_conflict', {
    detail: `The job is ${state}. ${may}.`,
    facts: { state, legal },
  });
}
