import type { BookJob, MessageJob, PingJob, RedeliveryJob } from '../schema/webhook/message.ts';
import type { Database, Tx } from './database.ts';
import { JOBS_SCHEMA } from './migrate-jobs.ts';

/* Jobs: work that any process does once, later. A job is enqueued in the transaction that makes it necessary. */

/**
 * Payload of each task of the worker, by the task's name. A feature beyond the specification declares its own in its folder. Payloads are
 * stored unencrypted, so they must not contain secrets.
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
  /** Jobs of one queue run one after the other, the earliest `run_at` first. Jobs without a queue run concurrently. */
  readonly queue?: string;
  /** Time at which the job may begin (ISO 8601). Absent: at once. */
  readonly run_at?: string;
  /** Instead of `run_at`: delay from the beginning of the transaction, by the database's clock. */
  readonly delay_ms?: number;
  /**
   * The job replaces a job with the same key that has not begun. A job with this key that runs is not interrupted, and is not tried again.
   */
  readonly key?: string;
  /**
   * Number of failed runs after which the job is not tried again. Default: 25. The library waits exp(attempts) seconds between runs, at
   * most 6 h.
   */
  readonly max_attempts?: number;
}

/** A job of any task, with the payload of that task. */
export type Job = { readonly [Name in TaskName]: JobOf<Name> }[TaskName];

/**
 * Calls the library's own function once for each queue, in a fixed order of queues, because two transactions that name a new queue wait for
 * each other. A job with the same key whose row is locked is not waited for, because a worker is taking or completing it. The function
 * would neither replace it nor add another job, although its worker sees nothing of this transaction; and a worker that completes several
 * jobs would in turn wait for this transaction. In that case another job is added without the key.
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

/** Adds jobs, which exist once the transaction has committed. No two jobs of one call may have the same key. */
export function addJobs(tx: Pick<Tx, 'write'>, jobs: readonly Job[]): void {
  if (jobs.length > 0) tx.write({ name: 'add jobs', text: ADD, values: [JSON.stringify(jobs)] });
}

/** Adds a job that depends on no other write, so that no transaction is needed. */
export async function addJob(database: Pick<Database, 'query'>, job: Job): Promise<void> {
  await new Promise((added, refused) => {
    addJobs({ write: statement => void database.query(statement).then(added, refused) }, [job]);
  });
}

/** Calls the library's function only for keys without a job, so that existing jobs stay as they are, even while they run. */
const ADD_ABSENT = `select 1 from unnest($1::text[]) as wanted(task),
    lateral ${JOBS_SCHEMA}.add_job(task, '{}', null, now(), $2, task, null, null, 'unsafe_dedupe')
    where not exists (select from ${JOBS_SCHEMA}.jobs there where there.key = wanted.task)`;

/** Adds a job for each of these tasks that has none, with the task's name as key. Any number of processes may call it at once. */
export async function addAbsentJobs(
  database: Pick<Database, 'query'>,
  tasks: readonly `periodic/${string}`[],
  { max_attempts }: { readonly max_attempts: number },
): Promise<void> {
  await database.query({ name: 'add absent jobs', text: ADD_ABSENT, values: [tasks, max_attempts] });
}

/**
 * Removes jobs that would never run. Such a job has lost its key, because its worker died after it had enqueued the job's successor and
 * before it had completed the job.
 */
export async function forgetSuperseded(database: Pick<Database, 'query'>): Promise<void> {
  await database.query({
    name: 'forget superseded jobs',
    text: `select ${JOBS_SCHEMA}.complete_jobs(array_agg(id)) from ${JOBS_SCHEMA}.jobs
      where key is null and locked_at is null and attempts >= max_attempts
        and (task_identifier like 'periodic/%' or task_identifier like 'webhook/%')`,
  });
}

/** Seconds since the first of the ready jobs with these keys became ready. 0 if none is ready. */
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
  /** Seconds since the job that has waited longest could have begun. */
  readonly oldest_seconds: number;
}

/** Maximum number of jobs that are counted, which limits the cost. They are read from the index that the worker uses. */
export const READY_JOBS_MAX = 10_000;

/** Number of jobs that are ready and not taken, by task. Tasks without such jobs are left out. */
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
