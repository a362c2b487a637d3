import type { BookJob, MessageJob, PingJob, RedeliveryJob } from '../schema/webhook/message.ts';
import type { Database, Tx } from './database.ts';
import { JOBS_SCHEMA } from './migrate-jobs.ts';

/* Work that is done later and once, by any process. It is enqueued in the transaction that makes it necessary. */

/**
 * Every task of the worker by its name, and what a job of it carries; a feature beyond the specification declares its own in its
 * folder. Payloads are kept in plain: no secret belongs there.
 */
export interface JobPayloads {
  /** Periodic jobs (gateway/jobs/task.ts) recur; they are never added by hand. */
  readonly [periodic: `periodic/${string}`]: Readonly<Record<string, never>>;
  /** Messages of books to their webhooks (gateway/webhooks). */
  readonly 'webhook/book': BookJob;
  readonly 'webhook/message': MessageJob;
  readonly 'webhook/redelivery': RedeliveryJob;
  readonly 'webhook/ping': PingJob;
  /**
   * Notifies the owner of a book of another agent's action, if its webhook subscribes to it
   * (gateway/reconcile/fleet-tasks.ts).
   */
  readonly 'book/escrow_offer': { readonly escrow_id: string };
  readonly 'board/bid': { readonly bid_id: string };
}

export type TaskName = keyof JobPayloads;

interface JobOf<Name extends TaskName> {
  readonly task: Name;
  readonly payload: JobPayloads[Name];
  /** Jobs of one queue run one after the other, the earliest `run_at` first; those without one side by side. */
  readonly queue?: string;
  /** ISO 8601; at once unless given. */
  readonly run_at?: string;
  /** Instead of `run_at`: so long from the transaction's begin, by the database's clock. */
  readonly delay_ms?: number;
  /** A job of this key that has not begun is replaced; one that runs is let run, and is not tried again. */
  readonly key?: string;
  /** After so many runs that failed it is left where it is; 25 unless given. The rest between two is the library's: exp(attempts), 6 h at most. */
  readonly max_attempts?: number;
}

/** A job of some task, with that task's payload. */
export type Job = { readonly [Name in TaskName]: JobOf<Name> }[TaskName];

/**
 * Uses the library's own function, once per queue and in this order, because two transactions that name a new queue
 * wait for each other. A job that is being taken or completed is not waited for: the function would neither replace it
 * nor add another, although its worker sees nothing of this transaction; and a worker that completes several would in
 * turn wait for us. In that case another job is added without the key.
 */
const ADD = `with asked as materialized (
      select * from json_to_recordset($1::json) as job(task text, payload json, queue text, run_at timestamptz,
        delay_ms float8, max_attempts int, key text)),
    held as materialized (
      select key from ${JOBS_SCHEMA}._private_jobs where key in (select key from asked) for update skip locked),
    contested as materialized (
      select key from ${JOBS_SCHEMA}._private_jobs where key in (select key from asked) except select key from held)
  select count(*) from (
    select queue, array_agg((task, payload, queue,
      coalesce(run_at, now() + make_interval(secs => delay_ms / 1000)),
      max_attempts, case when key not in (select key from contested) then key end, null, null)::${JOBS_SCHEMA}.job_spec) as specs
    from asked group by queue order by queue) each_queue, lateral ${JOBS_SCHEMA}.add_jobs(specs)`;

/** They are there once the transaction has committed, and not otherwise. No two of one call have the same key. */
export function addJobs(tx: Pick<Tx, 'write'>, jobs: readonly Job[]): void {
  if (jobs.length > 0) tx.write({ name: 'add jobs', text: ADD, values: [JSON.stringify(jobs)] });
}

/** For a job that depends on no other write: no transaction is needed. */
export async function addJob(database: Pick<Database, 'query'>, job: Job): Promise<void> {
  await new Promise((added, refused) => {
    addJobs({ write: statement => void database.query(statement).then(added, refused) }, [job]);
  });
}

/** By the library's function, after one more check: existing jobs stay as they are, also while they run. */
const ADD_ABSENT = `select 1 from unnest($1::text[]) as wanted(task),
    lateral ${JOBS_SCHEMA}.add_job(task, '{}', null, now(), $2, task, null, null, 'unsafe_dedupe')
    where not exists (select from ${JOBS_SCHEMA}.jobs there where there.key = wanted.task)`;

/** Ensures one job for each of these tasks, with its name as key. Any number of processes may call it. */
export async function addAbsentJobs(
  database: Pick<Database, 'query'>,
  tasks: readonly `periodic/${string}`[],
  { max_attempts }: { readonly max_attempts: number },
): Promise<void> {
  await database.query({ name: 'add absent jobs', text: ADD_ABSENT, values: [tasks, max_attempts] });
}

/**
 * A worker that dies between enqueuing its successor and completing the old job leaves the old job without its key: it
 * would never run, and is removed here.
 */
export async function forgetSuperseded(database: Pick<Database, 'query'>): Promise<void> {
  await database.query({
    name: 'forget superseded jobs',
    text: `select ${JOBS_SCHEMA}.complete_jobs(array_agg(id)) from ${JOBS_SCHEMA}.jobs
      where key is null and locked_at is null and attempts >= max_attempts
        and (task_identifier like 'periodic/%' or task_identifier like 'webhook/%')`,
  });
}

/** Seconds for which the job of these keys that has waited longest was ready without being taken. 0 if there is none. */
export async function longestReadySeconds(database: Pick<Database, 'query'>, keys: readonly string[]): Promise<number> {
  const [found] = await database.query<{ seconds: number }>({
    name: 'longest ready job',
    text: `select coalesce(extract(epoch from now() - min(run_at)), 0)::float8 as seconds
      from ${JOBS_SCHEMA}._private_jobs where key = any($1) and is_available and run_at <= now()`,
    values: [keys],
  });
  return found?.seconds ?? 0;
}

export interface ReadyJobs {
  readonly task: string;
  readonly jobs: number;
  /** Since the one that has waited longest could have begun. */
  readonly oldest_seconds: number;
}

/** So many are counted, whatever there is: by the index by which the worker looks for them. */
export const READY_JOBS_MAX = 10_000;

/** Jobs that are ready and not taken, by task. Tasks without any are left out. */
export function readyJobs(database: Pick<Database, 'query'>): Promise<ReadyJobs[]> {
  return database.query<ReadyJobs & Record<string, unknown>>({
    name: 'ready jobs',
    text: `select identifier as task, count(*)::int as jobs,
        extract(epoch from now() - min(run_at))::float8 as oldest_seconds
      from (select task_id, run_at from ${JOBS_SCHEMA}._private_jobs where is_available and run_at <= now()
        order by priority, run_at limit ${READY_JOBS_MAX}) ready
        join ${JOBS_SCHEMA}._private_tasks tasks on tasks.id = task_id
      group by identifier`,
  });
}
