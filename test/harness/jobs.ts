import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { openJobs } from '../../gateway/jobs/open-jobs.ts';
import type { PeriodicTask, Tasks } from '../../gateway/jobs/task.ts';
import { loggerOn } from '../../gateway/operations/logger.ts';
import { openHeartbeat } from '../../gateway/reconcile/heartbeat.ts';
import { limits } from '../../schema/limits.ts';
import type { Database } from '../../subgraphs/database.ts';

export interface JobsOfTest {
  readonly tasks?: Tasks;
  readonly periodic?: readonly PeriodicTask[];
  readonly isHalted?: () => boolean;
  readonly logger?: Logger;
}

export interface OpenedJobs {
  readonly owner: string;
  /** Every run, ordered by its end. */
  readonly runs: readonly { readonly task: string; readonly outcome: 'done' | 'failed' }[];
  /** Stops like a process: first its jobs, then its lease. */
  stop(): Promise<void>;
}

/** The job worker of a process, with a new lease. */
export async function openTestJobs(database: Database, asked: JobsOfTest): Promise<OpenedJobs> {
  const owner = randomUUID();
  const heartbeat = await openHeartbeat(database, owner, () => {});
  const runs: { task: string; outcome: 'done' | 'failed' }[] = [];
  const jobs = openJobs({
    database,
    connections_max: limits.database_connections_max_default,
    owner,
    tasks: {},
    periodic: [],
    isHalted: () => false,
    steady: heartbeat.steady,
    logger: loggerOn({ write: () => {} }, 'fatal'),
    ...asked,
    onEnd: (task, outcome) => void runs.push({ task, outcome }),
  });
  jobs.start();
  const stop = async () => {
    await jobs.stop();
    await heartbeat.stop();
  };
  return { owner, runs, stop };
}

/** Makes these periodic tasks due now, so that the fleet runs them at its next poll (within a second) instead of after their interval. */
export async function hurryTasks(
  query: (text: string, values: unknown[]) => Promise<unknown>,
  ...names: readonly string[]
): Promise<void> {
  const keys = names.map(name => `periodic/${name}`);
  await query('update graphile_worker._private_jobs set run_at = now() where key = any($1) and run_at > now()', [keys]);
}
