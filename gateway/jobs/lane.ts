import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as library from 'graphile-worker';
import type { Logger as WorkerLogger } from 'graphile-worker';
import type pg from 'pg';
import type { Logger } from 'pino';
import { JOBS_SCHEMA } from '../../subgraphs/migrate-jobs.ts';
import { isOutage } from '../../subgraphs/outage.ts';
import { lookInTime } from '../operations/metrics.ts';

/** Pause before the next worker is started, since the cause of a failure may last for a moment. */
const REST_MS = 500;
/** Time that a stop waits in addition to the running jobs. */
const STOP_MS_MAX = 1_000;
/** Number of sweeps that reach the database after which a worker that has not looked for jobs is replaced. */
const SWEEPS_MAX = 3;

interface LaneParts extends Omit<WorkerParts, 'id' | 'library' | 'tasks' | 'free'> {
  readonly name: string;
  /** Tasks that may run now; empty while no task may run. */
  readonly tasks: (signal: AbortSignal) => library.TaskList;
  /** Stores the owner of the worker with that id. Rejects if that is not possible now. */
  readonly note: (id: string) => Promise<unknown>;
  readonly free: (id: string) => Promise<unknown>;
  readonly logger: Logger;
}

/** Runs one worker of the library for some kinds of jobs, separate from other lanes, and replaces it if it fails. */
export class Lane {
  readonly #parts: LaneParts;
  readonly #stopping = new AbortController();
  readonly #ending = new Set<Promise<void>>();
  #id: string | null = null;
  #worker: Worker | null = null;
  #sweeps = 0;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: LaneParts) {
    this.#parts = parts;
  }

  /** Id of the worker that may hold jobs now; null if no worker runs. */
  get id(): string | null {
    return this.#id;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Called after each sweep that has reached the database. */
  swept(): void {
    if (!this.#worker || this.#worker.fetched) this.#sweeps = 0;
    else if (++this.#sweeps >= SWEEPS_MAX) this.renew();
  }

  /** Replaces the worker, because other tasks may run now or because it does nothing. */
  renew(): void {
    if (this.#worker) this.#end(this.#worker);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.renew();
    // The loop may be waiting to store the next worker's owner in a database that cannot be reached.
    await lookInTime(this.#running, STOP_MS_MAX);
    await Promise.all(this.#ending);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { logger, name } = this.#parts;
    while (!signal.aborted) {
      try {
        await this.#work();
      } catch (error) {
        logger.debug({ err: error }, `jobs: the worker for ${name} jobs could not be started`);
      }
      await sleep(REST_MS, null, { signal }).catch(() => {});
    }
  }

  /** Runs one worker until it fails or is replaced. */
  async #work(): Promise<void> {
    const { tasks, note, free, name, ...parts } = this.#parts;
    if (Object.keys(tasks(this.#stopping.signal)).length === 0) return;
    const imported = await import('graphile-worker');
    const id = `${name}-${randomBytes(9).toString('hex')}`;
    await note(id);
    if (this.#stopping.signal.aborted) return void (await free(id));
    const worker = new Worker({ ...parts, id, library: imported, tasks, free: () => free(id) });
    this.#sweeps = 0;
    this.#id = id;
    this.#worker = worker;
    await worker.failed;
    this.#end(worker);
  }

  /** Stops a worker without waiting for its jobs; only `stop` waits for them. */
  #end(worker: Worker): void {
    if (this.#worker === worker) {
      this.#worker = null;
      this.#id = null;
    }
    const ended = worker.stop().catch(() => {});
    this.#ending.add(ended);
    void ended.then(() => this.#ending.delete(ended));
  }
}

/** Time that running jobs have to finish when a worker stops. */
const FINISH_MS = 2_000;
/** Time that jobs have to react to the abort signal after that. */
const ABORT_MS = 1_000;

/** Delays between look-ups after a job of a queue. On an idle database the first look-up finds the next job. */
const LOOKS_MS: readonly number[] = [5, 20, 100, 500];

interface WorkerParts {
  readonly library: typeof library;
  readonly id: string;
  readonly pool: pg.Pool;
  readonly logger: Logger;
  /** Maximum number of jobs at once. */
  readonly concurrency: number;
  /** Time after which a job that became due is found. */
  readonly poll_ms: number;
  /** Whether the worker looks for jobs at once when a job is added. Otherwise it looks about as often as it polls. */
  readonly prompt: boolean;
  readonly tasks: (signal: AbortSignal) => library.TaskList;
  /** Frees the jobs that the worker still holds. The caller limits the time that it may take. */
  readonly free: () => Promise<unknown>;
}

/** One worker of the library, from start to end. Its id is known before it takes its first job. */
class Worker {
  /** Resolves when the worker takes no more jobs, because it was stopped or could not store the result of a job. */
  readonly failed: Promise<void>;
  readonly #pool: library.WorkerPool;
  readonly #free: WorkerParts['free'];
  readonly #aborting = new AbortController();
  #fetched = false;
  #looking = false;
  #step = 0;
  #stopping: Promise<void> | null = null;

  constructor({ library, id, pool, logger, concurrency, poll_ms, prompt, tasks, free }: WorkerParts) {
    const events: library.WorkerEvents = new EventEmitter();
    const failing = Promise.withResolvers<void>();
    this.failed = failing.promise;
    this.#free = free;
    // The id is set before the first look-up of jobs, because other processes find a job's owner by it.
    events.on('pool:create', ({ workerPool }) => {
      workerPool.id = id;
    });
    events.on('pool:gracefulShutdown', () => failing.resolve());
    events.on('localQueue:getJobs:complete', () => {
      this.#fetched = true;
    });
    const worker = {
      schema: JOBS_SCHEMA,
      concurrentJobs: concurrency,
      pollInterval: poll_ms,
      events,
      // After a failed look-up the database may have assigned jobs that the worker never received. If the worker continued, they
      // would stay assigned to it for hours.
      logger: workerLog(library.Logger, logger, failing.resolve),
      // One look-up fetches jobs for all slots. Otherwise each free slot would make a separate one.
      localQueue: {
        size: concurrency,
        ...(!prompt && { refetchDelay: { durationMs: poll_ms, maxAbortThreshold: Infinity } }),
      },
      // If completions were batched, a failure to store one would reject without a handler and end the process.
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    };
    this.#pool = library.runTaskList({ preset: { worker }, noHandleSignals: true }, tasks(this.#aborting.signal), pool);
    this.#pool.promise.catch(() => {});
    if (prompt)
      events.on('job:complete', ({ job }) => {
        if (job.job_queue_id !== null) this.#lookSoon();
      });
  }

  /**
   * Looks for jobs soon. The next job of a queue can begin when the end of the previous one is stored, but the worker is not
   * notified of that. Without another look-up it would wait for the next poll.
   */
  #lookSoon(): void {
    this.#step = 0;
    if (!this.#looking) this.#lookAgain();
  }

  #lookAgain(): void {
    const after_ms = LOOKS_MS[this.#step++];
    this.#looking = after_ms !== undefined && this.#stopping === null;
    if (!this.#looking) return;
    setTimeout(() => {
      if (this.#stopping === null) this.#pool.nudge(1);
      this.#lookAgain();
    }, after_ms).unref();
  }

  /**
   * Whether the worker has looked for jobs successfully at least once. A worker whose first look-up failed never makes another one.
   */
  get fetched(): boolean {
    return this.#fetched;
  }

  /** Stops the worker within a limited time: a job that does not end is abandoned and freed for others. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    // A worker that is already shutting down is only awaited.
    if (this.#pool._shuttingDown !== true) void Promise.resolve(this.#pool.gracefulShutdown()).catch(() => {});
    const ended = this.#pool.promise.then(
      () => true,
      () => true,
    );
    if (!(await lookInTime(ended, FINISH_MS))) {
      this.#aborting.abort();
      if (!(await lookInTime(ended, ABORT_MS))) {
        // The jobs are freed first, because the library reschedules jobs that it gives up itself only after a delay.
        await lookInTime(this.#free(), ABORT_MS);
        await lookInTime(Promise.resolve(this.#pool.forcefulShutdown('abandoned')), ABORT_MS);
      }
    }
    await lookInTime(this.#free(), ABORT_MS);
  }
}

type Level = 'error' | 'warning' | 'info' | 'debug';

/**
 * Logs the library's messages with only their errors, because its metadata contains whole jobs. Results of single jobs are counted
 * elsewhere. `outage` is called when the library has lost the database.
 */
function workerLog(library: typeof WorkerLogger, logger: Logger, outage: () => void): WorkerLogger {
  return new library(() => (level, message, meta) => {
    if (meta?.failure || meta?.success) return;
    const error = meta?.error;
    if (isOutage(error)) outage();
    logger[levelOf(level as Level, error)](error === undefined ? {} : { err: error }, `jobs: ${message}`);
  });
}

/**
 * Log level of a message. Outages are `debug`, because reconcile rounds and the heartbeat already report them, and they end without
 * an intervention.
 */
function levelOf(level: Level, error: unknown): 'error' | 'warn' | 'debug' {
  if (level === 'info' || level === 'debug' || isOutage(error)) return 'debug';
  return level === 'error' ? 'error' : 'warn';
}
