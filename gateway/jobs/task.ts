import type { Database } from '../../subgraphs/database.ts';
import type { JobPayloads, TaskName } from '../../subgraphs/jobs.ts';

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
