import { LogHalted } from './halt.ts';
import { HeadFiles, type OneLog } from './head-files.ts';
import { isFork, type SignedTreeHead } from './tree-head.ts';

/** The last signed head, stored outside the database, where restoring an older dump cannot change it. */
export interface SavedHead {
  /**
   * Resolves when this head, or one that extends it, is on disk, and one of this minute in the file that is kept for good, and when all
   * heads that other processes have saved before were found to be of this log. Heads that arrive while one is written are coalesced to the
   * largest; a smaller one never replaces a larger one.
   * @throws LogHalted if neither this head nor one that another process has saved extends the other, or if a break was declared since.
   */
  save(head: SignedTreeHead): Promise<void>;
  /** The largest of `readAll`. Null if none was ever saved. */
  read(): Promise<SignedTreeHead | null>;
  /**
   * The newest head of each process since the last declared break, the largest first. If the processes have signed different logs, neither
   * may be forgotten, so a start compares all of them. @throws if a file cannot be read: that is no reason to start afresh.
   */
  readAll(): Promise<readonly SignedTreeHead[]>;
  /** Heads that other processes have saved since the last call. Does not wait. */
  readChanges(): readonly SignedTreeHead[];
  /** Number of leaves of the newest head that this process has put on disk. 0 if there is none. */
  readonly tree_size: number;
  /** Whether the last write failed. Nothing that depends on a saved head is promised then. */
  readonly fails: boolean;
  /**
   * Goes on from another head, smaller or none: only after a break was declared. No head that was saved before counts any more, nor one that
   * a process that still runs saves later.
   */
  restart(head: SignedTreeHead | null): Promise<void>;
  /** Leaves one file for all processes, without that of this one. */
  close(): Promise<void>;
}

/** For callers that cannot prove anything. A saved head is then replaced only by an equal one. */
const unproven: OneLog = { isExtended: async () => false, stop: mismatch => new LogHalted(mismatch) };

/** One write, and the promise for all callers that wait for it. */
interface Round {
  head: SignedTreeHead;
  readonly done: PromiseWithResolvers<void>;
}

export function savedHead(path: string, log: OneLog = unproven): SavedHead {
  const files = new HeadFiles(path, log);
  let next: Round | null = null;
  let writing = false;
  let written = Promise.resolve();
  let fails = false;

  async function keep(head: SignedTreeHead): Promise<void> {
    try {
      await files.keep(head);
      fails = false;
    } catch (fault) {
      // A head of another log does not mean that the disk fails.
      fails = !(fault instanceof LogHalted);
      throw fault;
    }
  }

  async function drain(): Promise<void> {
    writing = true;
    for (let round = next; round !== null; round = next) {
      next = null;
      const { head, done } = round;
      await keep(head).then(done.resolve, done.reject);
    }
    writing = false;
  }

  return {
    read: async () => files.readAll()[0] ?? null,
    readAll: async () => files.readAll(),
    readChanges: () => files.readChanges(),
    get tree_size() {
      return files.tree_size;
    },
    get fails() {
      return fails;
    },
    restart: head => files.restart(head),
    async close() {
      await written;
      await files.close();
    },
    save(head) {
      if (next !== null && isFork(next.head, head)) return Promise.reject(log.stop({ known: next.head, found: head }));
      if (next === null) next = { head, done: Promise.withResolvers() };
      else if (head.tree_size > next.head.tree_size) next.head = head;
      const { done } = next;
      if (!writing) written = drain();
      return done.promise;
    },
  };
}
