import { LogHalted, type Mismatch } from './halt.ts';
import { type HeadName, headName, isFork, isSameHead } from './tree-head.ts';

/** A commit as its process announces it: the head that it found under the lock, and the one that it left. */
export interface HeadLink {
  readonly from: HeadName;
  readonly to: HeadName;
}

/** Number of remembered heads of the log: enough for announcements that are still on their way. */
const REMEMBERED_MAX = 1_024;

/**
 * What this process knows of the log independently of the database: the newest head that was proven here, and heads
 * that were announced or saved outside and are not proven here yet. The head found under the lock must extend all of
 * them. In memory, for one process; it never goes back, and a mismatch is final.
 */
export class KnownLog {
  /** The newest head that was proven, or our own commit. */
  #proven: HeadName | null = null;
  /** The newest head of each chain of announced commits. */
  #unproven: HeadName[] = [];
  readonly #proven_roots = new Roots();
  readonly #roots = new Roots();
  readonly #outside: () => readonly HeadName[];
  #mismatch: Mismatch | null = null;
  /** Called once when the log is halted. */
  onHalt: (mismatch: Mismatch) => void = () => {};
  /** Called when only a read of the database can decide. */
  onUncertain: () => void = () => {};

  /** `outside`: heads that other processes have saved since the last call. It must not wait. */
  constructor(outside: () => readonly HeadName[] = () => []) {
    this.#outside = outside;
  }

  get mismatch(): Mismatch | null {
    return this.#mismatch;
  }

  /** The newest head that was proven here. */
  get newest(): HeadName | null {
    return this.#proven;
  }

  /** All heads that must be prefixes of what is found, the largest last. */
  heads(): readonly HeadName[] {
    const heads = this.#proven ? [this.#proven, ...this.#unproven] : this.#unproven;
    const distinct = heads.filter((head, index) => heads.findIndex(other => isSameHead(other, head)) === index);
    return distinct.sort((one, other) => one.tree_size - other.tree_size);
  }

  /** Also takes in what others have saved. @throws LogHalted */
  requireSound(): void {
    for (const head of this.#outside()) this.learn(head);
    if (this.#mismatch) throw new LogHalted(this.#mismatch);
  }

  /** For good: nothing that comes later makes one log of two. Returns what to throw. */
  stop({ known, found, books }: Mismatch): LogHalted {
    if (this.#mismatch === null) {
      this.#mismatch = { known: headName(known), found: headName(found), ...(books && { books }) };
      this.onHalt(this.#mismatch);
    }
    return new LogHalted(this.#mismatch);
  }

  /** `found` extends all of `heads`, which are those that `heads()` named before it was read. */
  addProven(found: HeadName, heads: readonly HeadName[]): void {
    for (const head of [found, ...heads]) {
      this.#roots.add(head);
      this.#proven_roots.add(head);
    }
    this.#unproven = this.#unproven.filter(head => !heads.some(proven => isSameHead(proven, head)));
    if (found.tree_size >= (this.#proven?.tree_size ?? 0)) this.#proven = headName(found);
  }

  /**
   * Our own commit: built on a head that was proven under the lock, it extends that. @throws LogHalted if the log was halted meanwhile:
   * then it is unknown to which of the two logs the commit belongs.
   */
  addCommit(head: HeadName): void {
    if (!this.#contradicts(head) && this.#mismatch === null) this.addProven(head, []);
    if (this.#mismatch) throw new LogHalted(this.#mismatch);
  }

  /** A head from outside the database, or announced without its predecessor: to be proven at the next read. */
  learn(head: HeadName): void {
    if (this.#contradicts(head) || this.#roots.has(head)) return;
    this.#roots.add(head);
    this.#unproven.push(headName(head));
    this.onUncertain();
  }

  /**
   * A commit of another process, or our own. Commits follow each other under one lock, so that their links meet at every head that was ever
   * committed: one that passes over a known head has left it out.
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
      // Our own announcement arrived before an earlier commit's, or a process continues from an older state.
      if (to.tree_size < (known.at(-1)?.tree_size ?? 0)) this.onUncertain();
      else this.learn(to);
      return;
    }
    this.#roots.add(to);
    this.#unproven = [...this.#unproven.filter(head => !isSameHead(head, from)), headName(to)];
  }

  /** Whether a head is known, by proof or by construction, to be one of this log. */
  hasProven(head: HeadName): boolean {
    return this.#proven_roots.has(head);
  }

  /** Stops if another head of that size is known. */
  #contradicts(head: HeadName): boolean {
    const known = this.#roots.at(head.tree_size);
    const contradicts = known !== null && isFork(known, head);
    if (contradicts) this.stop({ known, found: head });
    return contradicts;
  }
}

/** The latest heads, by their sizes. */
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
