import { Refusal } from '../../../schema/errors.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database, Tx } from '../../database.ts';
import { resultUnlessHalted } from '../../receipt/log/halt-guard.ts';
import { lockBoard } from '../event/append.ts';
import { BoardJob } from './job.entity.ts';
import type { JobStanding } from './job.machine.ts';
import { feeSlot, legSlot } from './legs.ts';

/* Reads a job, with whether its time is over and whether a payment of it is under way, or locks it for writing. */

/** A job and the facts that decide its state, by the database's clock. */
export interface FoundJob {
  readonly job: BoardJob;
  /** Whether the next payment of the job is being made, or could still be used. */
  readonly under_way: boolean;
  readonly overdue: boolean;
  /** Whether the deadline is over. Nothing can be delivered after it for the first time, or again after a refusal. */
  readonly past_deadline: boolean;
}

export type FoundRow = Omit<FoundJob, 'job'> & object;

/**
 * SQL condition that a job's time is over when the statement begins. It is never over while the first leg is paid or being paid.
 * `clock_timestamp()` would not do: it is not stable within a statement, so Postgres could not use the index and would read all jobs that
 * end at a time. A caller that may have to wait for a lock takes it in an earlier statement.
 */
export const OVER = `(ends_at <= statement_timestamp() and leg_one_task_id is null
  and not exists (select 1 from claim_slot where slot = '${legSlot('')}' || job_id))`;

/**
 * SQL condition that a job waits for another delivery after a refusal. If none comes in time, the job ends as refused, as in `jobStateBy`.
 */
export const REFUSED_BEFORE = `(state = 'picked' and refusals > 0)`;

/** SQL condition that the next payment is under way, so that no other payment is requested. */
const UNDER_WAY = `(state in ('delivered', 'expired') and exists (select 1 from claim_slot
  where slot = case when leg_one_task_id is null then '${legSlot('')}' else '${feeSlot('')}' end || job_id))`;

/** Columns of a job that depend on the time and on its payments. */
export const foundFacts = (): string => `coalesce(${OVER}, false) as overdue, ${UNDER_WAY} as under_way`;

/** Columns that `foundJob` takes. */
export const foundColumns = (): string =>
  `${selectList(BoardJob)}, ${foundFacts()}, deadline <= statement_timestamp() as past_deadline`;

/** Reads a job, hidden or not. @throws job_not_found, or unavailable while the log is halted */
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

/**
 * Checks that the job is shown to these agents. A hidden job is shown only to its poster and its winner, so that they can still pay and be
 * paid. @throws job_not_found
 */
export function requireShown({ hidden, agentId, winnerAgentId }: BoardJob, agents: readonly number[]): void {
  if (hidden && !agents.some(agent => agent === agentId || agent === winnerAgentId)) throw new Refusal('job_not_found');
}

/**
 * Reads a job for writing, under the lock of the board's head, which every writer of a job takes first. Otherwise two transactions could
 * wait for each other: one with several stamps that holds the head and waits for a job, and a writer of that job that waits for the head.
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

/** The facts of a job that decide which steps are possible. */
export function jobStandingOf({ job: { state, refusals }, overdue, past_deadline }: FoundJob): JobStanding {
  return { state, refusals, overdue, past_deadline };
}
