import { LogHalted, type Mismatch } from './halt.ts';
import { type HeadName, headName, isFork, isSameHead } from './tree-head.ts';

/** A commit as its process announces it: the head that the process found under the lock, and the head that it stored. */
export interface HeadLink {
  readonly from: HeadName;
  readonly to: HeadName;
}

/** Number of heads that are remembered, enough for announcements that have not arrived yet. */
const REMEMBERED_MAX = 1_024;

/**
 * Heads of the log that this process has recorded independently of the database: the newest head that was proven here, and heads that were
 * announced or saved outside and are not proven here yet. The head found under the lock must extend all of them. The record is in the
 * memory of one process and never goes back to a smaller head. A mismatch is final.
 */
export class KnownLog {
  /** The newest head that this process has proven or committed. */
  #proven: HeadName | null = null;
  /** The newest head of each chain of announced commits that is not proven yet. */
  #unproven: HeadName[] = [];
  readonly #proven_roots = new Roots();
  readonly #roots = new Roots();
  readonly #outside: () => readonly HeadName[];
  #mismatch: Mismatch | null = null;
  /** Called once when the log is halted. */
  onHalt: (mismatch: Mismatch) => void = () => {};
  /** Called when a head can be judged only by reading the database. */
  onUncertain: () => void = () => {};

  /** `outside` returns the heads that other processes have saved since the last call. It must not wait. */
  constructor(outside: () => readonly HeadName[] = () => []) {
    this.#outside = outside;
  }

  get mismatch(): Mismatch | null {
    return this.#mismatch;
  }

  /** The newest head that this process has proven or committed. */
  get newest(): HeadName | null {
    return this.#proven;
  }

  /** All heads that the stored log must extend, each once, the largest last. */
  heads(): readonly HeadName[] {
    const heads = this.#proven ? [this.#proven, ...this.#unproven] : this.#unproven;
    const distinct = heads.filter((head, index) => heads.findIndex(other => isSameHead(other, head)) === index);
    return distinct.sort((one, other) => one.tree_size - other.tree_size);
  }

  /** Adds the heads that other processes have saved, and checks that the log is not halted. @throws LogHalted */
  requireSound(): void {
    for (const head of this.#outside()) this.learn(head);
    if (this.#mismatch) throw new LogHalted(this.#mismatch);
  }

  /** Records a mismatch for good, because no later head can make one log of two. Returns the error to throw. */
  stop({ known, found, books }: Mismatch): LogHalted {
    if (this.#mismatch === null) {
      this.#mismatch = { known: headName(known), found: headName(found), ...(books && { books }) };
      this.onHalt(this.#mismatch);
    }
    return new LogHalted(this.#mismatch);
  }

  /** Records that `found` extends all of `heads`, which `heads()` returned before `found` was read. */
  addProven(found: HeadName, heads: readonly HeadName[]): void {
    for (const head of [found, ...heads]) {
      this.#roots.add(head);
      this.#proven_roots.add(head);
    }
    this.#unproven = this.#unproven.filter(head => !heads.some(proven => isSameHead(proven, head)));
    if (found.tree_size >= (this.#proven?.tree_size ?? 0)) this.#proven = headName(found);
  }

  /**
   * Records a commit of this process. It extends the head on which it was built, which was proven under the lock. @throws LogHalted if the
   * log was halted meanwhile, because it is then unknown to which of the two logs the commit belongs.
   */
  addCommit(head: HeadName): void {
    if (!this.#contradicts(head) && this.#mismatch === null) this.addProven(head, []);
    if (this.#mismatch) throw new LogHalted(this.#mismatch);
  }

  /** Records a head from outside the database, or one that was announced without its predecessor. It is proven at the next read. */
  learn(head: HeadName): void {
    if (this.#contradicts(head) || this.#roots.has(head)) return;
    this.#roots.add(head);
    this.#unproven.push(headName(head));
    this.onUncertain();
  }

  /**
   * Records an announced commit, of another process or of this one. Commits follow each other under one lock, so each link begins at the
   * head with which the link before it ended. A link that passes over a known head therefore does not continue it.
   */
  learnLink({ from, to }: HeadLink): void {
    if (this.#contradicts(from) || this.#contradicts(to) || this.#roots.has(to)) return;
    const known = this.heads();
    const passed = known.findLast(({ tree_size }) => from.tree_size < tree_size && tree_size < to.tree_size);
    if (passed) {
      this.stop({ known: passed, found: to });
      return;
    }
    if (!known.some(head => isSameHead(head, from))) {
      // An earlier commit is announced after a later one, or a process continues from an older state.
      if (to.tree_size < (known.at(-1)?.tree_size ?? 0)) this.onUncertain();
      else this.learn(to);
      return;
    }
    this.#roots.add(to);
    this.#unproven = [...this.#unproven.filter(head => !isSameHead(head, from)), headName(to)];
  }

  /** Whether this process has proven or committed a head of this log. */
  hasProven(head: HeadName): boolean {
    return this.#proven_roots.has(head);
  }

  /** Whether another head of the same size is known. If so, the mismatch is recorded. */
  #contradicts(head: HeadName): boolean {
    const known = this.#roots.at(head.tree_size);
    const contradicts = known !== null && isFork(known, head);
    if (contradicts) this.stop({ known, found: head });
    return contradicts;
  }
}

/** The heads that were added last, by their sizes. */
class Roots {
  readonly #roots = new Map<number, string>();

  add({ tree_size, root_hash }: HeadName): void {
    this.#roots.set(tree_size, root_hash);
    if (this.#roots.size > REMEMBERED_MAX) this.#roots.delete(this.#roots.keys().next().value as number);
  }

  at(tree_size: number): HeadName | null {
    const root_hash = this.#roots.get(tree_size);
    return root_hash === undefined ? null : { tree_size, root_hash };
  }

  has(head: HeadName): boolean {
    return this.#roots.get(head.tree_size) === head.root_hash;
  }
}
