import { setTimeout as sleep } from 'node:timers/promises';
import type { JobHelpers, TaskList } from 'graphile-worker';
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import type { Database } from '../../subgraphs/database.ts';
import { longestReadySeconds } from '../../subgraphs/jobs.ts';
import { sweepWorkers } from '../../subgraphs/receipt/claim/lease.ts';
import { lookInTime } from '../operations/metrics.ts';
import { Lane } from './lane.ts';
import {
  addPeriodicJobs,
  type JobEndListener,
  type JobTask,
  jobOf,
  type PeriodicTask,
  periodicTasks,
  type TaskContext,
  type Tasks,
} from './task.ts';

interface JobsParts {
  readonly database: Database;
  /** Size of the database's pool. */
  readonly connections_max: number;
  /** Name of the owner in this process's lease. */
  readonly owner: string;
  /** Whether this process may conclude from an expired lease that its owner has ended. */
  readonly steady: () => boolean;
  readonly isHalted: () => boolean;
  readonly logger: Logger;
  readonly onEnd: JobEndListener;
  /** Tasks of jobs that `addJobs` adds. They mostly wait for the network. */
  readonly tasks: Tasks;
  readonly periodic: readonly PeriodicTask[];
}

export interface Jobs {
  /** Starts to take jobs. */
  start(): void;
  /** Whether the periodic jobs are run by some process: none of them has waited much longer than a run may take. */
  done(): Promise<boolean>;
  /** Stops within a limited time: jobs that do not end are abandoned and freed for other processes. */
  stop(): Promise<void>;
}

/** Connections in addition to the service's pool: a listener for each lane, and those that fetch jobs and store results. */
const CONNECTIONS_MAX = 6;
const DELIVERIES_AT_ONCE = 64;
/**
 * How often each lane looks for jobs. A periodic job is always added for a later time, so its worker needs no notification of it.
 */
const looks = { periodic: { poll_ms: 1_000, prompt: false }, asked: { poll_ms: 2_000, prompt: true } } as const;
const SWEEP_MS = 2_000;
/** Number of sweeps after which missing periodic jobs are looked for. */
const SWEEPS_PER_LOOK = 5;
const CLOSE_MS_MAX = 1_000;
/** Longest time for which a periodic job may wait. A run may take two minutes and delay the next run by as much. */
const READY_SECONDS_MAX = 180;

/** Runs this process's workers, which share the jobs with those of all other processes. The process's lease must exist. */
export function openJobs(parts: JobsParts): Jobs {
  const { database, owner, periodic, logger } = parts;
  const pool = database.openPool(CONNECTIONS_MAX);
  const sweep = (asked: { workers?: readonly string[]; ended?: readonly string[]; steady?: boolean }) =>
    sweepWorkers(database, { owner, workers: [], ended: [], steady: false, ...asked });
  const unfreed = new Set<string>();
  const free = async (id: string) => {
    unfreed.add(id);
    await sweep({ ended: [id] });
    unfreed.delete(id);
  };
  const laneOf = (name: keyof typeof looks, concurrency: number, all: Tasks, using: TaskContext['database']) =>
    new Lane({
      name,
      concurrency,
      ...looks[name],
      pool,
      logger,
      tasks: signal => taskListOf({ ...parts, tasks: parts.isHalted() ? {} : all, database: using, signal }),
      note: id => sweep({ workers: [id] }),
      free,
    });
  // The periodic lane has a slot for each task, so that no task waits for another. Deliveries have a separate lane.
  const lanes = [
    laneOf('periodic', periodic.length, periodicTasks(database, periodic), database),
    laneOf('asked', DELIVERIES_AT_ONCE, parts.tasks, limitConnections(database, parts.connections_max)),
  ];
  const stopping = new AbortController();
  const { signal } = stopping;
  const look = watchOver(lanes, { ...parts, unfreed, sweep });
  const sweeping = async () => {
    while (!signal.aborted) {
      await look().catch(error => logger.debug({ err: error }, 'jobs: the check of workers failed'));
      await sleep(SWEEP_MS, null, { signal }).catch(() => {});
    }
  };
  let swept: Promise<void> = Promise.resolve();
  return {
    done: async () => (await longestReadySeconds(database, periodic.map(jobOf))) < READY_SECONDS_MAX,
    start() {
      swept = sweeping();
      for (const lane of lanes) lane.start();
    },
    async stop() {
      stopping.abort();
      await Promise.all([lookInTime(swept, CLOSE_MS_MAX), ...lanes.map(lane => lane.stop())]);
      await lookInTime(pool.end(), CLOSE_MS_MAX);
    },
  };
}

interface SweepParts extends Pick<JobsParts, 'database' | 'steady' | 'isHalted' | 'periodic' | 'logger'> {
  /** Ids of workers that ended while the database was unreachable, so that their jobs are not freed yet. */
  readonly unfreed: Set<string>;
  readonly sweep: (asked: { workers: readonly string[]; ended: readonly string[]; steady: boolean }) => Promise<number>;
}

/**
 * Returns a function that makes one sweep: it frees jobs of workers that have ended, confirms our own workers, adds missing
 * periodic jobs and reacts to a halt of the log.
 */
function watchOver(
  lanes: readonly Lane[],
  { unfreed, database, steady, isHalted, periodic, logger, sweep }: SweepParts,
) {
  let looks = 0;
  let was_halted = false;
  return async () => {
    if (isHalted() && !was_halted) {
      was_halted = true;
      for (const lane of lanes) lane.renew();
    }
    const workers = lanes.flatMap(({ id }) => id ?? []);
    const ended = [...unfreed];
    const freed = await sweep({ workers, ended, steady: steady() });
    for (const id of ended) unfreed.delete(id);
    if (freed > 0)
      logger.info({ workers: freed }, 'background jobs of processes that ended can be taken by other processes');
    if (looks++ % SWEEPS_PER_LOOK === 0 && !isHalted()) await addPeriodicJobs(database, periodic);
    for (const lane of lanes) lane.swept();
  };
}

/** Share of the pool's connections that deliveries may use, so that the others remain for paid calls. */
const SHARE = 1 / 4;

interface TaskListParts {
  readonly tasks: Tasks;
  readonly database: TaskContext['database'];
  readonly signal: AbortSignal;
  readonly isHalted: () => boolean;
  readonly onEnd: JobEndListener;
}

/** The tasks that may run now, in the library's form. */
function taskListOf({ tasks, isHalted, onEnd, ...context }: TaskListParts): TaskList {
  const named = Object.entries(tasks as Readonly<Record<string, JobTask<never> | undefined>>);
  const list: TaskList = {};
  for (const [name, task] of named) {
    if (!task) continue;
    list[name] = async (payload: unknown, { job }: JobHelpers) => {
      if (isHalted()) throw new JobFailed('LogHalted');
      try {
        await task.run(payload as never, { ...context, attempt: job.attempts });
      } catch (error) {
        onEnd(name, 'failed', error);
        throw new JobFailed(error instanceof Error ? error.name : typeof error);
      }
      onEnd(name, 'done');
    };
  }
  return list;
}

/**
 * The part of a failure that the job table and the library's log get: only its class, because messages may contain private data.
 */
class JobFailed extends Error {
  override name = 'JobFailed';
}

/**
 * Limits the connections that tasks use at once. Otherwise tasks that wait for a network could take every connection of the pool.
 */
function limitConnections(database: TaskContext['database'], connections_max: number): TaskContext['database'] {
  const limit = pLimit(Math.max(1, Math.floor(connections_max * SHARE)));
  return {
    query: statement => limit(() => database.query(statement)),
    transaction: (work, bound) => limit(() => database.transaction(work, bound)),
  } satisfies Pick<Database, 'query' | 'transaction'>;
}
