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
  /** Every run, in the order of their ends. */
  readonly runs: readonly { readonly task: string; readonly outcome: 'done' | 'failed' }[];
  /** As a process stops: its jobs, then its lease. */
  stop(): Promise<void>;
}

/** The worker of jobs as a process has it, with a lease of its own. */
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

/** Does the fleet's tasks of these names at their next look (a second at most), and not only once they have rested. */
export async function hurryTasks(
  query: (text: string, values: unknown[]) => Promise<unknown>,
  ...names: readonly string[]
): Promise<void> {
  const keys = names.map(name => `periodic/${name}`);
  await query('update graphile_worker._private_jobs set run_at = now() where key = any($1) and run_at > now()', [keys]);
}
