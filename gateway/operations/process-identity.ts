import { readFileSync } from 'node:fs';

/** Identifies a process for all time, because a pid alone may be reused. */
export interface ProcessMark {
  readonly pid: number;
  /** Boot id and start tick on Linux. Null if the system does not show them. */
  readonly started: string | null;
}

/**
 * The identity of a running process. Null if there is no such process, or only a zombie. If only the first thread is a zombie, the process
 * still runs, and its ports are not free until its last thread has ended.
 */
export function markOf(pid: number): ProcessMark | null {
  if (!Number.isSafeInteger(pid) || pid < 1) return null;
  if (process.platform !== 'linux') return answersSignals(pid) ? { pid, started: null } : null;
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  // The command name is in parentheses and may contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0] ?? '';
  const threads = Number(fields[17]);
  if (stat === '' || state === 'X' || (state === 'Z' && threads <= 1)) return null;
  return { pid, started: `${readOrEmpty('/proc/sys/kernel/random/boot_id').trim()}:${fields[19]}` };
}

export function isAlive(mark: ProcessMark): boolean {
  const now = markOf(mark.pid);
  return now !== null && (mark.started === null || now.started === mark.started);
}

/** Command line of a process, arguments joined by spaces. Null if the system does not show it. */
export function commandOf(pid: number): string | null {
  if (process.platform !== 'linux') return null;
  return readOrEmpty(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
}

function answersSignals(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
