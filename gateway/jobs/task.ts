import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../subgraphs/database.ts';
import { addAbsentJobs, addJob, type JobPayloads, type TaskName } from '../../subgraphs/jobs.ts';

/* What the worker does for a job, and what is done again and again by one process of the fleet. */

/** What a job is run with. */
export interface TaskContext {
  /** The service's own, but a few connections of it at once for all jobs together. */
  readonly database: Pick<Database, 'query' | 'transaction'>;
  /** Fires when this worker stops: what is not done within a second from then is abandoned, and run again elsewhere. */
  readonly signal: AbortSignal;
  /** From 1: which run of this job it is. */
  readonly attempt: number;
}

/** What is done for a job of that name. It may be done twice: a process may die when it is done and not yet noted. */
export interface JobTask<Name extends TaskName> {
  /** @throws what is counted and logged as this job's failure, by its class and sentence: without payloads and secrets. */
  run(payload: JobPayloads[Name], context: TaskContext): Promise<void>;
}

export type Tasks = { readonly [Name in TaskName]?: JobTask<Name> };

/** Hears of every run of a job. */
export type JobEnded = (task: string, outcome: 'done' | 'failed', error?: unknown) => void;

/** Done again and again, by one process of the fleet at a time; whichever it is. Two at once do no harm, but are no use. */
export interface PeriodicTask {
  /** Of few words, as operators read it in /metrics: its job is called `periodic/<name>`. */
  readonly name: string;
  /** From the end of a run to the next, whatever came of it. */
  readonly rest_ms: number;
  /** Resolves with another rest for this time, or with nothing. */
  run(signal: AbortSignal): Promise<{ readonly rest_ms: number } | undefined>;
}

/** One that hangs is left behind, so that the fleet does it again. */
const RUN_MS_MAX = 120_000;

/** The most that a job may have: these are never given up. */
const MAX_ATTEMPTS = 32_767;

export const jobOf = ({ name }: Pick<PeriodicTask, 'name'>) => `periodic/${name}` as const;

/** Sees to it that the job of each exists, in any number of processes. */
export async function putIn(database: Pick<Database, 'query'>, tasks: readonly PeriodicTask[]): Promise<void> {
  await addAbsentJobs(database, tasks.map(jobOf), { max_attempts: MAX_ATTEMPTS });
}

/** As tasks of the worker: each puts its own job back before it ends, also where it failed. */
export function periodicTasks(database: Pick<Database, 'query'>, tasks: readonly PeriodicTask[]): Tasks {
  return Object.fromEntries(tasks.map(task => [jobOf(task), puttingBack(database, task)]));
}

function puttingBack(database: Pick<Database, 'query'>, task: PeriodicTask): JobTask<`periodic/${string}`> {
  const { rest_ms } = task;
  return {
    async run(_payload, { signal }) {
      let next_ms = rest_ms;
      try {
        next_ms = (await inTime(task, signal))?.rest_ms ?? rest_ms;
      } finally {
        const job = jobOf(task);
        // By the database's clock: one of a process that is wrong would put it off for all.
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
