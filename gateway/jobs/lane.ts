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

/** Between two workers: what made the one fail may take a moment to pass. */
const REST_MS = 500;
/** What a stop waits for beside the jobs that run. */
const STOP_MS_MAX = 1_000;
/** A worker that has not looked for jobs once after so many sweeps that reached the database is replaced. */
const SWEEPS_MAX = 3;

interface LaneParts extends Omit<WorkerParts, 'id' | 'library' | 'tasks' | 'free'> {
  readonly name: string;
  /** As of now: none where there is nothing that may run. */
  readonly tasks: (signal: AbortSignal) => library.TaskList;
  /** Resolves when it is noted whose worker this is; rejects while that cannot be. */
  readonly note: (id: string) => Promise<unknown>;
  readonly free: (id: string) => Promise<unknown>;
  readonly logger: Logger;
}

/** Some kinds of jobs that wait for no others: keeps one worker of the library at them, and replaces it where it fails. */
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

  /** Of the worker that may hold jobs just now. */
  get id(): string | null {
    return this.#id;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** The database was reached just now. */
  swept(): void {
    if (!this.#worker || this.#worker.fetched) this.#sweeps = 0;
    else if (++this.#sweeps >= SWEEPS_MAX) this.renew();
  }

  /** For another: by what may run now, or because this one does nothing. */
  renew(): void {
    if (this.#worker) this.#end(this.#worker);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.renew();
    // It may be asking a database that is away whose worker the next one is.
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

  /** Until it fails or is to be replaced. */
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

  /** Nobody waits for what is under way there, but who stops. */
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

/** What is under way when a worker stops has so long to come to its end by itself; */
const FINISH_MS = 2_000;
/** and so long from then on to notice that it is to stop. */
const ABORT_MS = 1_000;

/** From one look to the next after a job of a queue. On an idle database the first finds what follows. */
const LOOKS_MS: readonly number[] = [5, 20, 100, 500];

interface WorkerParts {
  readonly library: typeof library;
  readonly id: string;
  readonly pool: pg.Pool;
  readonly logger: Logger;
  /** So many jobs at once. */
  readonly concurrency: number;
  /** A job that was due at a later time is found after so long. */
  readonly poll_ms: number;
  /** Whether it looks at once when somebody has added a job. Without, only about as often as it polls. */
  readonly prompt: boolean;
  readonly tasks: (signal: AbortSignal) => library.TaskList;
  /** Frees what it still holds; bounded by whoever asks. */
  readonly free: () => Promise<unknown>;
}

/** One worker of the library, under an id that is known before it takes its first job, from its start to its end. */
class Worker {
  /** Resolves when it takes no more jobs: it was stopped, or could not note what became of one. */
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
    // Before its first look for jobs: others know by this id whose they are.
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
      // Where it looked for jobs it may hold some of which it was never told: it goes on, and they would be held for hours.
      logger: workerLog(library.Logger, logger, failing.resolve),
      // One look for all; without it each of the jobs that could run at once would look for itself.
      localQueue: {
        size: concurrency,
        ...(!prompt && { refetchDelay: { durationMs: poll_ms, maxAbortThreshold: Infinity } }),
      },
      // Not batched, a failure to note what became of a job would be nobody's, and end the process.
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
   * The next of a queue may begin once the end of this one is noted, of which nobody is told: without a look it would
   * wait for the next poll.
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

  /** Whether it has looked for jobs at least once: one whose first look failed never looks again. */
  get fetched(): boolean {
    return this.#fetched;
  }

  /** In bounded time: a job that does not end is abandoned, and free for others. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    // Of one that shuts itself down the end is awaited, not asked for again.
    if (this.#pool._shuttingDown !== true) void Promise.resolve(this.#pool.gracefulShutdown()).catch(() => {});
    const ended = this.#pool.promise.then(
      () => true,
      () => true,
    );
    if (!(await lookInTime(ended, FINISH_MS))) {
      this.#aborting.abort();
      if (!(await lookInTime(ended, ABORT_MS))) {
        // Freed first: what the library gives up itself it has wait.
        await lookInTime(this.#free(), ABORT_MS);
        await lookInTime(Promise.resolve(this.#pool.forcefulShutdown('abandoned')), ABORT_MS);
      }
    }
    await lookInTime(this.#free(), ABORT_MS);
  }
}

type Level = 'error' | 'warning' | 'info' | 'debug';

/**
 * What the library says goes into our log, by its sentence and its error alone: beside these it hands on whole jobs. How
 * single jobs came out is counted elsewhere. `outage` hears where it lost the database.
 */
function workerLog(library: typeof WorkerLogger, logger: Logger, outage: () => void): WorkerLogger {
  return new library(() => (level, message, meta) => {
    if (meta?.failure || meta?.success) return;
    const error = meta?.error;
    if (isOutage(error)) outage();
    logger[levelOf(level as Level, error)](error === undefined ? {} : { err: error }, `jobs: ${message}`);
  });
}

/** An outage is said by the rounds and the heartbeat already, and it comes back by itself. */
function levelOf(level: Level, error: unknown): 'error' | 'warn' | 'debug' {
  if (level === 'info' || level === 'debug' || isOutage(error)) return 'debug';
  return level === 'error' ? 'error' : 'warn';
}
