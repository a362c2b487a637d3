import { kindOf } from './kinds.ts';
import type { Mark } from './marks.ts';
import { commandOf, type Process, processes } from './processes.ts';

/** What the looks have found of one process. */
export interface CostObservation {
  readonly pid: number;
  readonly parent: number;
  readonly first_ms: number;
  readonly started_ticks: number;
  command: string;
  own_seconds: number;
  children_seconds: number;
  /** CPU between its last look and its end, known from its parent's sum of ended children. */
  tail_seconds: number;
  /** CPU of its children that no look has met. */
  unseen_seconds: number;
  /** Its children that have ended and are not yet in its sum. */
  readonly ended: CostObservation[];
}

/** Time in which a process may still become another program (setpriv, npm) or change its title (Postgres). */
const SETTLES_MS = 2_000;

/**
 * Looks at all processes again and again, and keeps an account of each that this one, or a process started by it, has
 * started since. CPU that a process used after its last look is in its parent's sum of ended children, so only that of
 * orphans is lost.
 */
export class Account {
  readonly seen: CostObservation[] = [];
  readonly #running = new Map<string, CostObservation>();
  /** Keys of the running ones, by pid. */
  readonly #keys = new Map<number, string>();
  readonly #before: ReadonlySet<string>;

  constructor() {
    this.#before = new Set(processes().map(keyOf));
  }

  look(): void {
    const now_ms = Date.now();
    const all = processes();
    const byPid = new Map(all.map(it => [it.pid, it]));
    const found = new Map(all.map(it => [keyOf(it), it]));
    for (const [key, seen] of this.#running) {
      if (found.has(key)) continue;
      this.#running.delete(key);
      this.#running.get(this.#keys.get(seen.parent) ?? '')?.ended.push(seen);
    }
    for (const [key, it] of found) {
      if (this.#running.has(key) || (!this.#before.has(key) && this.#isOurs(it, byPid))) this.#note(key, it, now_ms);
    }
  }

  /** A process that has lost its parent by now was noted while it had it. */
  #isOurs({ parent }: Process, byPid: ReadonlyMap<number, Process>): boolean {
    for (let it = byPid.get(parent); it !== undefined; it = byPid.get(it.parent))
      if (it.pid === process.pid || this.#running.has(keyOf(it))) return true;
    return false;
  }

  #note(key: string, found: Process, now_ms: number): void {
    let seen = this.#running.get(key);
    if (seen === undefined) {
      const { pid, parent, started_ticks } = found;
      const counts = { own_seconds: 0, children_seconds: 0, tail_seconds: 0, unseen_seconds: 0 };
      seen = { pid, parent, started_ticks, first_ms: now_ms, command: '', ended: [], ...counts };
      this.#running.set(key, seen);
      this.#keys.set(pid, key);
      this.seen.push(seen);
    }
    if (seen.command === '' || now_ms - seen.first_ms < SETTLES_MS) seen.command = commandOf(found.pid) || seen.command;
    if (found.children_seconds > seen.children_seconds) settle(seen, found);
    seen.own_seconds = found.own_seconds;
    seen.children_seconds = found.children_seconds;
  }
}

/** Charges the growth of a parent's sum, beyond what was known of its ended children, to them, or to children that no look has met. */
function settle(parent: CostObservation, found: Process): void {
  const ended = parent.ended.splice(0);
  const known = ended.reduce((sum, { own_seconds, children_seconds }) => sum + own_seconds + children_seconds, 0);
  const rest = found.children_seconds - parent.children_seconds - known;
  if (rest <= 0) return;
  if (ended.length === 0) parent.unseen_seconds += rest;
  for (const one of ended) one.tail_seconds += rest / ended.length;
}

const keyOf = ({ pid, started_ticks }: Process) => `${pid}:${started_ticks}`;

/** Seconds by owner. */
export type Owners = Map<string, number>;

export interface Costs {
  readonly by_kind: Owners;
  /** Owners by test file, and within it by kind. */
  readonly by_file: Map<string, Owners>;
  readonly count_by_kind: Map<string, number>;
}

const NO_FILE = '(the run itself)';

/** Charges each second by the kind of its process, and by the test file for which that was started. */
export function costsOf(seen: readonly CostObservation[], marks: readonly Mark[]): Costs {
  const costs: Costs = { by_kind: new Map(), by_file: new Map(), count_by_kind: new Map() };
  const byPid = Map.groupBy(seen, ({ pid }) => pid);
  const fileAt = filesOf(marks);
  const charge = (kind: string, file: string, seconds: number) => {
    add(costs.by_kind, kind, seconds);
    const owners = costs.by_file.get(file) ?? new Map();
    costs.by_file.set(file, owners);
    add(owners, kind, seconds);
  };
  for (const one of seen) {
    const kind = kindOf(one.command);
    add(costs.count_by_kind, kind, 1);
    const file = fileOf(one, byPid, fileAt);
    // What a worker uses within its files is charged by its own marks; the rest of it is Vitest's.
    const inside = kind === 'test workers' ? chargeWorker(one, marks, charge) : 0;
    charge(kind, file, one.own_seconds + one.tail_seconds - inside);
    charge(`short-lived children of ${kind}`, file, one.unseen_seconds);
  }
  return costs;
}

function chargeWorker(
  { pid }: CostObservation,
  marks: readonly Mark[],
  charge: (kind: string, file: string, seconds: number) => void,
): number {
  let before: Mark | undefined;
  let file = '';
  let inside = 0;
  for (const mark of marks.filter(mark => mark.pid === pid && mark.event !== 'database')) {
    if (before && mark.event !== 'file begins') {
      const seconds = mark.cpu_seconds - before.cpu_seconds;
      charge(mark.event === 'tests begin' ? 'test workers: import' : 'test workers: tests', file, seconds);
      inside += seconds;
    }
    file = mark.name;
    before = mark;
  }
  return inside;
}

/** Which file a worker ran at a time, and which one made a database. */
function filesOf(marks: readonly Mark[]) {
  const begun = Map.groupBy(
    marks.filter(mark => mark.event === 'file begins'),
    ({ pid }) => pid,
  );
  const at = (pid: number, at_ms: number) => begun.get(pid)?.findLast(mark => mark.at_ms <= at_ms)?.name;
  const databases = new Map(
    marks.flatMap(mark => (mark.event === 'database' ? [[mark.name, at(mark.pid, mark.at_ms) ?? NO_FILE]] : [])),
  );
  return { at, ofDatabase: (name: string) => databases.get(name) };
}

function fileOf(
  one: CostObservation,
  byPid: ReadonlyMap<number, readonly CostObservation[]>,
  { at, ofDatabase }: ReturnType<typeof filesOf>,
): string {
  const database = /^postgres: .*\b(t_[0-9a-f]{16})\b/.exec(one.command)?.[1];
  if (database !== undefined) return ofDatabase(database) ?? NO_FILE;
  for (
    let it: CostObservation | undefined = one;
    it !== undefined;
    it = byPid.get(it.parent)?.findLast(p => p.first_ms <= one.first_ms)
  ) {
    const file = at(it.pid, one.first_ms);
    if (file !== undefined && it !== one) return file;
    if (it.parent <= 1 || it.parent === it.pid) break;
  }
  return NO_FILE;
}

function add(owners: Owners, owner: string, seconds: number): void {
  owners.set(owner, (owners.get(owner) ?? 0) + seconds);
}
