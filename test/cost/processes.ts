import { readdirSync, readFileSync } from 'node:fs';

/* Reads the kernel's data on the processes of this machine (proc(5)), which Linux alone has. */

/** CPU time of /proc is in ticks of 10 ms on every Linux that Node runs on (sysconf _SC_CLK_TCK). */
const TICK_SECONDS = 0.01;

export interface Process {
  readonly pid: number;
  /** A pid may be used again; together with this it names one process. */
  readonly started_ticks: number;
  readonly parent: number;
  /** User and system time of its own threads. */
  readonly own_seconds: number;
  /** CPU of its children that have ended and were waited for, with theirs. */
  readonly children_seconds: number;
}

/** All running processes; one that ends meanwhile is left out. */
export function processes(): Process[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(name => processOf(Number(name)) ?? []);
}

export function processOf(pid: number): Process | null {
  const text = readOrNull(`/proc/${pid}/stat`);
  if (text === null) return null;
  // The second field is the name in parentheses, which may hold both spaces and parentheses.
  const [, parent, ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const field = (position: number) => Number(fields[position - 5]);
  return {
    pid,
    parent: Number(parent),
    own_seconds: (field(14) + field(15)) * TICK_SECONDS,
    children_seconds: (field(16) + field(17)) * TICK_SECONDS,
    started_ticks: field(22),
  };
}

/** Its arguments, joined by spaces; empty if it has ended or belongs to the kernel. */
export function commandOf(pid: number): string {
  return (readOrNull(`/proc/${pid}/cmdline`) ?? '').replaceAll('\0', ' ').trim();
}

/** Time since its start that the cores of this machine have not been idle. */
export function busySeconds(): number {
  const [, user, nice, system, , , irq, softirq] = (readOrNull('/proc/stat') ?? '').split('\n')[0]?.split(/\s+/) ?? [];
  return [user, nice, system, irq, softirq].reduce((sum, ticks) => sum + Number(ticks), 0) * TICK_SECONDS;
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
