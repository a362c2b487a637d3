import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { syncFolderOf, writeDurably } from '../../durable-file.ts';
import { withFileLock } from './file-lock.ts';
import { LogHalted, type Mismatch } from './halt.ts';
import { type HeadName, isFork, isSameHead, LOG_ID, type SignedTreeHead, treeHeadHash } from './tree-head.ts';

/** The last signed head, kept outside the database: what a restored older dump cannot take back. */
export interface SavedHead {
  /**
   * Resolves when this head, or one that extends it, is on disk, and one of this minute in the file that is kept for good. Heads that
   * arrive while one is written are coalesced to the largest; a smaller one never replaces a larger one, whichever process wrote it.
   * @throws LogHalted if neither extends the other.
   */
  save(head: SignedTreeHead): Promise<void>;
  /** Null if none was ever saved. @throws if the file cannot be read: that is no reason to start afresh. */
  read(): Promise<SignedTreeHead | null>;
  /** Head that another process has saved since the last call. Null if there is none. Does not wait. */
  readChange(): SignedTreeHead | null;
  /** Number of leaves of the head on disk, as far as this process has seen. */
  readonly tree_size: number;
  /** Whether the last write failed: then nothing is promised that depends on it. */
  readonly fails: boolean;
  /** Goes on from another head, smaller or none: only after a break was declared. */
  restart(head: SignedTreeHead | null): Promise<void>;
}

/** Decides whether heads are of one log. */
export interface OneLog {
  /** Whether a smaller head is a prefix of a larger one: by its construction, or by a consistency proof. */
  isExtended(older: HeadName, newer: HeadName): Promise<boolean>;
  /** Called with two heads of which neither extends the other; returns what to throw. */
  stop(mismatch: Mismatch): LogHalted;
}

/** For callers that prove nothing: a head replaces only an equal one. */
const unproven: OneLog = { isExtended: async () => false, stop: mismatch => new LogHalted(mismatch) };

/** One write and all who wait for it. */
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
      // A head of another log says nothing about the disk.
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
/** A damaged head does not match its own hash. */
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

/** The file exists and contains no head. */
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
  /** File that was there at the last read of this process. */
  #mark: string | null = null;
  /** What was read last: the same text is the same head, and need not be hashed again. */
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

  /** Write aside, fsync, rename, fsync the folder: after a power cut either the old head or the new one is there. */
  async keep(head: SignedTreeHead): Promise<void> {
    // Heads come from the database as well: one that was altered there never gets here.
    Saved.parse(head);
    // Processes in containers of their own share the folder, and often their number.
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
    // Also if another process has put a larger one there: it may not have synced the folder yet.
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

  /** False if the file was replaced meanwhile, or the lock was lost: then it is judged once more. */
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

/** Each rename puts another file there, with a number and a time of its own. */
function markOf(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.ino}:${stat.ctimeNs}` : null;
}

/**
 * Held open while it is replaced: its blocks are freed on close, off this thread. The rename alone takes 15 µs; with
 * the freeing, 1.5 ms in which this process does nothing else.
 */
async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r');
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw fault;
  }
}

/** `2026-01-02T03:04` of an ISO 8601 time. */
const MINUTE_CHARS = 16;

/**
 * Signed heads as JSON lines, one a minute while the log grows, never taken back: evidence of what was signed, whatever happened to the
 * database, to the newest head, or to the log since. Each process that shares the folder may add its own, so that a minute may have
 * several.
 */
export class HeadsFile {
  readonly #path: string;
  #minute: string | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** Resolves when a head of its minute is on disk. */
  async keep(head: SignedTreeHead): Promise<void> {
    const minute = head.at.slice(0, MINUTE_CHARS);
    if (minute === this.#minute) return;
    await mkdir(dirname(this.#path), { recursive: true });
    const file = await open(this.#path, 'a+', 0o600);
    try {
      // In one write, so that the lines of several processes do not mix; one that a power cut tore is closed first.
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
