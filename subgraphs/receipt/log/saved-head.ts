import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { syncFolderOf, writeDurably } from '../../durable-file.ts';
import { withFileLock } from './file-lock.ts';
import { LogHalted, type Mismatch } from './halt.ts';
import { type HeadName, isFork, isSameHead, LOG_ID, type SignedTreeHead, treeHeadHash } from './tree-head.ts';

/** The last signed head, stored outside the database, where restoring an older dump cannot change it. */
export interface SavedHead {
  /**
   * Resolves when this head, or one that extends it, is on disk, and a head of this minute is in the file that is never deleted
   * (`HeadsFile`). Of the heads that arrive during a write, only the largest is written. A smaller head never replaces a larger one,
   * whichever process wrote it.
   * @throws LogHalted if neither this head nor the saved one extends the other.
   */
  save(head: SignedTreeHead): Promise<void>;
  /** The saved head; null if none was ever saved. @throws if the file cannot be read, because that must not look like a first start. */
  read(): Promise<SignedTreeHead | null>;
  /** Head that another process has saved since the last call; null if there is none. It returns at once. */
  readChange(): SignedTreeHead | null;
  /** Number of leaves of the head on disk, as far as this process has seen. */
  readonly tree_size: number;
  /** Whether the last write failed. Nothing that depends on a saved head is promised then. */
  readonly fails: boolean;
  /** Replaces the saved head by another one, which may be smaller, or deletes it. Allowed only after a break was declared. */
  restart(head: SignedTreeHead | null): Promise<void>;
}

/** Decides whether two heads are of the same log. */
export interface OneLog {
  /** Whether a larger head extends a smaller one, by its construction or by a consistency proof. */
  isExtended(older: HeadName, newer: HeadName): Promise<boolean>;
  /** Called with two heads of which neither extends the other. Returns the error to throw. */
  stop(mismatch: Mismatch): LogHalted;
}

/** For callers that cannot prove anything. A saved head is then replaced only by an equal one. */
const unproven: OneLog = { isExtended: async () => false, stop: mismatch => new LogHalted(mismatch) };

/** One write, and the promise for all callers that wait for it. */
interface Round {
  head: SignedTreeHead;
  readonly done: PromiseWithResolvers<void>;
}

export function savedHead(path: string, log: OneLog = unproven): SavedHead {
  const file = new HeadFile(path, log);
  let next: Round | null = null;
  let writing = false;
  let fails = false;

  async function keep(head: SignedTreeHead): Promise<void> {
    try {
      await file.keep(head);
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
    read: async () => file.read(),
    readChange: () => file.changed(),
    get tree_size() {
      return file.tree_size;
    },
    get fails() {
      return fails;
    },
    async restart(head) {
      await withFileLock(`${path}.lock`, () => rmSync(path, { force: true }));
      if (head !== null) await file.keep(head);
    },
    save(head) {
      if (next !== null && isFork(next.head, head)) return Promise.reject(log.stop({ known: next.head, found: head }));
      if (next === null) next = { head, done: Promise.withResolvers() };
      else if (head.tree_size > next.head.tree_size) next.head = head;
      const { done } = next;
      if (!writing) void drain();
      return done.promise;
    },
  };
}

const hash = z.string().regex(/^[0-9a-f]{64}$/);
/** A saved head. A damaged one is detected because it does not match its own hash. */
const Saved = z
  .object({
    log_id: z.literal(LOG_ID),
    tree_size: z.int().min(0),
    root_hash: hash,
    tree_head_hash: hash,
    kid: z.string(),
    jws: z.string(),
    at: z.string(),
  })
  .refine(head => treeHeadHash(head) === head.tree_head_hash, 'tree_head_hash is not the hash of this head');

/** The file exists but cannot be read as a head. */
export class UnreadableHead extends Error {
  override name = 'UnreadableHead';

  constructor(path: string, cause: unknown) {
    super(`the saved log head ${path} cannot be read`, { cause });
  }
}

class HeadFile {
  readonly #path: string;
  readonly #log: OneLog;
  readonly #history: HeadsFile;
  /** Identity of the file that this process read or wrote last, see `markOf`. */
  #mark: string | null = null;
  /** The text that was read or written last, with its head: the same text need not be checked again. */
  #sound: { readonly text: string; readonly head: SignedTreeHead } | null = null;
  tree_size = 0;

  constructor(path: string, log: OneLog) {
    this.#path = path;
    this.#log = log;
    this.#history = new HeadsFile(join(dirname(path), 'log-heads.jsonl'));
  }

  read(): SignedTreeHead | null {
    try {
      const text = readFileSync(this.#path, 'utf8');
      if (this.#sound?.text !== text) this.#sound = { text, head: Saved.parse(JSON.parse(text)) };
      return this.#sound.head;
    } catch (fault) {
      if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw new UnreadableHead(this.#path, fault);
    }
  }

  /**
   * Writes a temporary file, syncs it, renames it and syncs the folder. So after a power failure either the old head or the new one is on
   * disk.
   */
  async keep(head: SignedTreeHead): Promise<void> {
    // Heads may come from the database. One that was altered there is not saved.
    Saved.parse(head);
    // A random name, because processes in separate containers share the folder and often have the same process id.
    const aside = `${this.#path}.${randomUUID()}.tmp`;
    const replaced = await openIfThere(this.#path);
    const text = `${JSON.stringify(head, null, 2)}\n`;
    try {
      await writeDurably(aside, text);
      while (!(await this.#replace(aside, { text, head })));
    } catch (fault) {
      await rm(aside, { force: true });
      throw fault;
    } finally {
      await replaced?.close();
    }
    // Needed even if another process has saved a larger head, because it may not have synced the folder yet.
    await syncFolderOf(this.#path);
    await this.#history.keep(head);
  }

  changed(): SignedTreeHead | null {
    const mark = markOf(this.#path);
    if (mark === this.#mark) return null;
    const head = this.read();
    this.#mark = mark;
    this.tree_size = head?.tree_size ?? 0;
    return head;
  }

  /**
   * Saves the head unless the saved one is larger. False if the file was replaced meanwhile or the lock was lost; the caller must then try
   * again.
   */
  async #replace(aside: string, written: { readonly text: string; readonly head: SignedTreeHead }): Promise<boolean> {
    const { head } = written;
    const standing = this.read();
    // Proven before the lock is taken, because nothing may be awaited while it is held.
    if (standing !== null) await this.#requireOneLog(standing, head);
    return withFileLock(`${this.#path}.lock`, held => {
      const there = this.read();
      if ((there && standing ? !isSameHead(there, standing) : there !== standing) || !held()) return false;
      this.tree_size = Math.max(standing?.tree_size ?? 0, head.tree_size);
      if (standing !== null && standing.tree_size >= head.tree_size) rmSync(aside);
      else {
        renameSync(aside, this.#path);
        this.#mark = markOf(this.#path);
        this.#sound = written;
      }
      return true;
    });
  }

  async #requireOneLog(standing: SignedTreeHead, head: SignedTreeHead): Promise<void> {
    if (isSameHead(standing, head)) return;
    const [older, newer] = standing.tree_size < head.tree_size ? [standing, head] : [head, standing];
    if (isFork(standing, head) || !(await this.#log.isExtended(older, newer)))
      throw this.#log.stop({ known: standing, found: head });
  }
}

/**
 * Identity of the file at a path; null if there is none. Each rename puts another file there, with another inode number and change time.
 */
function markOf(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.ino}:${stat.ctimeNs}` : null;
}

/**
 * Opens the file; null if there is none. It stays open while it is replaced, so that its blocks are freed on close, in another thread. The
 * rename alone takes 15 µs. If it also freed the blocks, this process would do nothing else for 1.5 ms.
 */
async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r');
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw fault;
  }
}

/** Length of the part of an ISO 8601 time up to the minute: `2026-01-02T03:04`. */
const MINUTE_CHARS = 16;

/**
 * File of signed heads as JSON lines, one a minute while the log grows, never deleted. It is evidence of what was signed, whatever happens
 * to the database, to the newest head, or to the log later. Each process that shares the folder may add its own, so a minute may have
 * several.
 */
export class HeadsFile {
  readonly #path: string;
  #minute: string | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** Resolves when a head of the same minute is on disk. */
  async keep(head: SignedTreeHead): Promise<void> {
    const minute = head.at.slice(0, MINUTE_CHARS);
    if (minute === this.#minute) return;
    await mkdir(dirname(this.#path), { recursive: true });
    const file = await open(this.#path, 'a+', 0o600);
    try {
      // Each line is one write, so that the lines of several processes do not mix. A line that a power failure cut off is ended first.
      const { size } = await file.stat();
      const last = Buffer.alloc(1);
      await file.read(last, 0, 1, Math.max(0, size - 1));
      const torn = size > 0 && last.toString() !== '\n';
      await file.appendFile(`${torn ? '\n' : ''}${JSON.stringify(head)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await syncFolderOf(this.#path);
    this.#minute = minute;
  }
}
