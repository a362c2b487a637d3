import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../subgraphs/database.ts';
import { addAbsentJobs, addJob, type JobPayloads, type TaskName } from '../../subgraphs/jobs.ts';

/* Tasks that a worker runs for jobs, and periodic tasks, each of which one process at a time runs. */

export interface TaskContext {
  /** The service's database, limited to a few connections for all jobs together. */
  readonly database: Pick<Database, 'query' | 'transaction'>;
  /**
   * Aborted when the worker stops. Work that is not done within a second afterwards is abandoned, and another process runs it
   * again.
   */
  readonly signal: AbortSignal;
  /** Number of this run of the job, from 1. */
  readonly attempt: number;
}

/**
 * Handles the jobs of one name. A job may run twice, because a process may end after its work and before the result is stored.
 */
export interface JobTask<Name extends TaskName> {
  /** @throws an error that is logged by class and message, which must contain neither payloads nor secrets */
  run(payload: JobPayloads[Name], context: TaskContext): Promise<void>;
}

export type Tasks = { readonly [Name in TaskName]?: JobTask<Name> };

/** Called after each run of a job. */
export type JobEndListener = (task: string, outcome: 'done' | 'failed', error?: unknown) => void;

/** Work that one process at a time repeats. Two runs at the same time do no harm, but are useless. */
export interface PeriodicTask {
  /** Name of a few words, which operators see in /metrics. The job is called `periodic/<name>`. */
  readonly name: string;
  /** Pause from the end of a run to the next one, whatever the result of the run. */
  readonly rest_ms: number;
  /** Resolves with a different pause before the next run, or with undefined. */
  run(signal: AbortSignal): Promise<{ readonly rest_ms: number } | undefined>;
}

/** Time after which a run that does not end is abandoned, so that another process can repeat it. */
const RUN_MS_MAX = 120_000;

/** The largest number of attempts that a job can have, because periodic jobs are never given up. */
const MAX_ATTEMPTS = 32_767;

export const jobOf = ({ name }: Pick<PeriodicTask, 'name'>) => `periodic/${name}` as const;

/** Adds the job of each task if it does not exist. Any number of processes may call this. */
export async function addPeriodicJobs(
  database: Pick<Database, 'query'>,
  tasks: readonly PeriodicTask[],
): Promise<void> {
  await addAbsentJobs(database, tasks.map(jobOf), { max_attempts: MAX_ATTEMPTS });
}

/** Worker tasks that schedule their job again when a run ends, even if it failed. */
export function periodicTasks(database: Pick<Database, 'query'>, tasks: readonly PeriodicTask[]): Tasks {
  return Object.fromEntries(tasks.map(task => [jobOf(task), repeatingTask(database, task)]));
}

function repeatingTask(database: Pick<Database, 'query'>, task: PeriodicTask): JobTask<`periodic/${string}`> {
  const { rest_ms } = task;
  return {
    async run(_payload, { signal }) {
      let next_ms = rest_ms;
      try {
        next_ms = (await inTime(task, signal))?.rest_ms ?? rest_ms;
      } finally {
        const job = jobOf(task);
        // The delay is measured by the database's clock, because otherwise one process with a wrong clock would delay the job for
        // all.
        const next = { key: job, delay_ms: next_ms, max_attempts: MAX_ATTEMPTS };
        await addJob(database, { task: job, payload: {}, ...next });
      }
    },
  };
}

async function inTime({ name, run }: PeriodicTask, stopped: AbortSignal): ReturnType<PeriodicTask['run']> {
  const ended = new AbortController();
  const late = sleep(RUN_MS_MAX, null, { signal: ended.signal }).then(() => {
    throw new Error(`${name} took more than ${RUN_MS_MAX / 1_000} s and was abandoned`);
  });
  late.catch(() => {});
  const work = run(AbortSignal.any([stopped, ended.signal]));
  try {
    return await Promise.race([work, late]);
  } finally {
    ended.abort();
    Promise.resolve(work).catch(() => {});
  }
}
