import { appendFileSync, readFileSync } from 'node:fs';
import { processOf } from './processes.ts';

/* What tests report while `npm run test:cost` measures them: one line each, in the file that it names. */

export type Mark = { readonly at_ms: number; readonly pid: number; readonly cpu_seconds: number } & (
  | { readonly event: 'file begins' | 'tests begin' | 'file ends'; readonly name: string }
  /** `pid` is the worker that created the database. */
  | { readonly event: 'database'; readonly name: string }
  /** `pid` is the service's own; it has no name. */
  | { readonly event: 'service is ready'; readonly name: '' }
);

const file = process.env.TEST_COST_MARKS;

/** Marks an event of this worker; does nothing in a run that is not measured. */
export function mark(event: Exclude<Mark['event'], 'service is ready'>, name: string): void {
  if (file === undefined) return;
  const { user, system } = process.cpuUsage();
  write({ at_ms: Date.now(), pid: process.pid, cpu_seconds: (user + system) / 1e6, event, name });
}

/** Marks a service that answers /health from now on. */
export function markReady(pid: number | undefined): void {
  if (file === undefined || pid === undefined) return;
  const cpu_seconds = processOf(pid)?.own_seconds ?? 0;
  write({ at_ms: Date.now(), pid, cpu_seconds, event: 'service is ready', name: '' });
}

function write(line: Mark): void {
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(line)}\n`);
}

export function readMarks(path: string): Mark[] {
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return lines.map(line => JSON.parse(line) as Mark);
}
