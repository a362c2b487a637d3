import type { Logger as WorkerLogger } from 'graphile-worker';
import type { Logger } from 'pino';
import { isOutage } from '../../subgraphs/outage.ts';

type Level = 'error' | 'warning' | 'info' | 'debug';

/**
 * What the library says goes into our log, by its sentence and its error alone: beside these it hands on whole jobs. How
 * single jobs came out is counted elsewhere. `outage` hears where it lost the database.
 */
export function workerLog(library: typeof WorkerLogger, logger: Logger, outage: () => void): WorkerLogger {
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
