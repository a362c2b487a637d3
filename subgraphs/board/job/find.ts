import { Refusal } from '../../../schema/errors.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database, Tx } from '../../database.ts';
import { resultUnlessHalted } from '../../receipt/log/halt-guard.ts';
import { lockBoard } from '../event/append.ts';
import { BoardJob } from './job.entity.ts';
import type { JobStanding } from './job.machine.ts';
import { feeSlot, legSlot } from './legs.ts';

/* Reads a job, with whether its time is over and whether a payment of it is under way; locks it for writing. */

/** A job, and whether its time is over by the database's clock. It is never over while the first leg is paid or being paid. */
export interface FoundJob {
  readonly job: BoardJob;
  /** Whether one of its payments is being made, or could still be used. */
  readonly under_way: boolean;
  readonly overdue: boolean;
  /** Whether the deadline is over: then nothing can be delivered for the first time, or again after a refusal. */
  readonly past_deadline: boolean;
}

export type FoundRow = Omit<FoundJob, 'job'> & object;

/**
 * Condition that a job's time is over when the statement begins. With `clock_timestamp()`, which is not stable within a statement, all jobs
 * that end would be read instead of those by their index. If a lock has to be waited for, an earlier statement takes it.
 */
export const OVER = `(ends_at <= statement_timestamp() and leg_one_task_id is null
  and not exists (select 1 from claim_slot where slot = '${legSlot('')}' || job_id))`;

/** Condition that a job waits for another delivery after a refusal. Without one in time it ends as refused, as in `jobStateBy`. */
export const REFUSED_BEFORE = `(state = 'picked' and refusals > 0)`;

/** Condition that the next payment is under way, so that no other is requested. */
const UNDER_WAY = `(state in ('delivered', 'expired') and exists (select 1 from claim_slot
  where slot = case when leg_one_task_id is null then '${legSlot('')}' else '${feeSlot('')}' end || job_id))`;

/** Columns that `foundJob` takes. */
export const foundColumns = (): string =>
  `${selectList(BoardJob)}, coalesce(${OVER}, false) as overdue, ${UNDER_WAY} as under_way,
    deadline <= statement_timestamp() as past_deadline`;

/** @throws job_not_found, or unavailable while the log is halted */
export async function requireJob(database: Pick<Database, 'query'>, job_id: string): Promise<FoundJob> {
  const [row] = await database.query<FoundRow>({
    name: 'board job',
    text: `select ${foundColumns()} from board_job where job_id = $1`,
    values: [job_id],
  });
  const found = resultUnlessHalted(database, row ?? null);
  if (found === null) throw new Refusal('job_not_found');
  return foundJob(found);
}

/** A hidden job is shown only to its poster and its winner, so that they can still pay and be paid. @throws job_not_found */
export function requireShown({ hidden, agentId, winnerAgentId }: BoardJob, agents: readonly number[]): void {
  if (hidden && !agents.some(agent => agent === agentId || agent === winnerAgentId)) throw new Refusal('job_not_found');
}

/**
 * Reads a job for writing, under the board's head, which every writer of a job locks first. Otherwise a record of
 * several stamps that holds the head would wait for a job whose writer waits for the head.
 * @throws job_not_found
 */
export async function lockJob(tx: Tx, job_id: string): Promise<FoundJob & { now_ms: number }> {
  lockBoard(tx);
  const { rows } = await tx.query<FoundRow & { now_ms: number }>({
    name: 'board job to write',
    text: `select ${foundColumns()}, (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms
      from board_job where job_id = $1`,
    values: [job_id],
  });
  const [row] = rows;
  if (!row) throw new Refusal('job_not_found');
  return { ...foundJob(row), now_ms: Math.floor(row.now_ms) };
}

export function foundJob({ overdue, under_way, past_deadline, ...columns }: FoundRow): FoundJob {
  return { job: asEntity(BoardJob, columns), overdue, under_way, past_deadline };
}

/** Facts that decide which steps are possible. */
export function jobStandingOf({ job: { state, refusals }, overdue, past_deadline }: FoundJob): JobStanding {
  return { state, refusals, overdue, past_deadline };
}
