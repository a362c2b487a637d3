import type { JobState } from '../../../schema/board/job.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { writeInTurn } from '../../book/write-in-turn.ts';
import type { Tx } from '../../database.ts';
import type { BoardContext } from '../context.ts';
import { appendBoardEvents } from '../event/append.ts';
import type { BoardEventKind } from '../event/board-event.entity.ts';
import { lockJob, requireJob, requireShown } from './find.ts';
import type { BoardJob } from './job.entity.ts';
import { jobMoves, jobStateBy, judgeJob } from './job.machine.ts';
import type { ShownJob } from './job.type.ts';
import { requireJobMove } from './move.ts';
import { jobView } from './view.ts';

/* A step that costs nothing: who may take it, whether it was taken, and its write with its event. */

export type Acting = Pick<BoardContext, 'database'>;

/** A step that nobody pays for, by whom the job's table says. */
export interface JobStep {
  readonly action: Exclude<keyof typeof jobMoves, 'bid' | 'pay'>;
  readonly event: BoardEventKind;
  /**
   * Whether the job shows that this very step was taken: then it is answered as it stands, and nothing is written.
   * `state`: where it stands by its time.
   */
  taken(job: BoardJob, state: JobState): boolean;
  /** What the job says from then on, but for its state; and what is written beside it. */
  take(tx: Tx, job: BoardJob, now_ms: number): Partial<BoardJob> | Promise<Partial<BoardJob>>;
}

/** Before anything else is looked at. @throws job_not_found, forbidden */
export async function requirePart(
  { database }: Acting,
  agent_id: AgentId,
  job_id: string,
  action: JobStep['action'],
): Promise<BoardJob> {
  const { job } = await requireJob(database, job_id);
  requireShown(job, [agent_id]);
  const acts = jobMoves[action].by === 'poster' ? job.agentId : job.winnerAgentId;
  // On a job that nobody has won yet nobody is its winner: who is told so is told no more than the job shows.
  if (acts !== agent_id) throw new Refusal('forbidden');
  return job;
}

/**
 * Takes a step under the board's head: of two at once the second finds the job where the first has left it.
 * @throws job_not_found, job_state_conflict, rate_limited
 */
export function takeStep({ database }: Acting, agent_id: AgentId, job_id: string, step: JobStep): Promise<ShownJob> {
  return writeInTurn(agent_id, () =>
    database.transaction(async tx => {
      const { now_ms, ...found } = await lockJob(tx, job_id);
      const { job, overdue } = found;
      if (step.taken(job, jobStateBy({ state: job.state, overdue }))) return jobView(found);
      const { to } = requireJobMove(judgeJob({ state: job.state, overdue }, step.action));
      const said = await step.take(tx, job, now_ms);
      const moved = Object.assign(job, said, { state: to });
      storeJob(tx, moved);
      appendBoardEvents(tx, [{ kind: step.event, job_id, at_ms: now_ms }]);
      return jobView({ ...found, job: moved });
    }),
  );
}

/** All that a step may change. What payments change is written by mark-paid.ts alone. */
function storeJob(tx: Tx, job: BoardJob): void {
  const { jobId, state, endsAt, pickedBidId, winnerAgentId, priceAtomic, network, payTo, pickedAt } = job;
  const { outputSha256, untrustedPreview, deliveredAt, challengedAt, closedAt } = job;
  tx.write({
    name: 'store board job',
    text: `update board_job set state = $2, ends_at = $3, picked_bid_id = $4, winner_agent_id = $5, price_atomic = $6,
        network = $7, pay_to = $8, picked_at = $9, output_sha256 = $10, untrusted_preview = $11, delivered_at = $12,
        challenged_at = $13, closed_at = $14 where job_id = $1`,
    values: [
      jobId,
      state,
      endsAt,
      pickedBidId,
      winnerAgentId,
      priceAtomic && String(priceAtomic),
      network,
      payTo,
      pickedAt,
      outputSha256,
      untrustedPreview,
      deliveredAt,
      challengedAt,
      closedAt,
    ],
  });
}
