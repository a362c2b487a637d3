import type { JobHelpers, TaskList } from 'graphile-worker';
import pLimit from 'p-limit';
import type { Database } from '../../subgraphs/database.ts';
import type { JobEnded, JobTask, TaskContext, Tasks } from './task.ts';

/** Of the pool's connections, so that deliveries leave the rest to paid calls. */
const SHARE = 1 / 4;

interface TaskListParts {
  readonly tasks: Tasks;
  readonly database: TaskContext['database'];
  readonly signal: AbortSignal;
  readonly halted: () => boolean;
  readonly ended: JobEnded;
}

/** Names those that may run now, as the library wants them. */
export function taskListOf({ tasks, halted, ended, ...context }: TaskListParts): TaskList {
  const named = Object.entries(tasks as Readonly<Record<string, JobTask<never> | undefined>>);
  const list: TaskList = {};
  for (const [name, task] of named) {
    if (!task) continue;
    list[name] = async (payload: unknown, { job }: JobHelpers) => {
      if (halted()) throw new JobFailed('LogHalted');
      try {
        await task.run(payload as never, { ...context, attempt: job.attempts });
      } catch (error) {
        ended(name, 'failed', error);
        throw new JobFailed(error instanceof Error ? error.name : typeof error);
      }
      ended(name, 'done');
    };
  }
  return list;
}

/** All that the table of jobs, and the library's log, are told of a failure: sentences may hold what is nobody's business. */
class JobFailed extends Error {
  override name = 'JobFailed';
}

/** So many tasks may wait for a network that all of them together could take every connection of the pool. */
export function bounded(database: TaskContext['database'], connections_max: number): TaskContext['database'] {
  const limit = pLimit(Math.max(1, Math.floor(connections_max * SHARE)));
  return {
    query: statement => limit(() => database.query(statement)),
    transaction: (work, bound) => limit(() => database.transaction(work, bound)),
  } satisfies Pick<Database, 'query' | 'transaction'>;
}
