import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  createReadStream,
  fdatasync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { z } from 'zod';
import { agentId } from '../../../schema/ids.ts';
import { syncFolderOf } from '../../durable-file.ts';
import { withFileLock } from '../../receipt/log/file-lock.ts';
import { isEventHead, type KnownHead } from './compare.ts';

const synced = promisify(fdatasync);

/** Files smaller than this are not compacted. */
const COMPACTED_BYTES_MIN = 1 << 18;
/**
 * The file is compacted when it has this many times the size of one line per book, so that each line is rewritten a bounded number
 * of times.
 */
const GROWTH_MAX = 4;
/** The same multiple at a start, when the whole file is read anyway. */
const GROWTH_MAX_AT_START = 2;
const LINES_PER_WRITE = 5_000;
/** Failed writes are retried after this time, even if no other heads are added. */
const RETRY_MS = 1_000;
/** A write that takes longer counts as failed. */
const WRITE_MS_MAX = 5_000;

const at = z.iso.datetime();
const Line = z.union([
  z.object({
    agent_id: z.int().min(1).transform(agentId),
    position: z.int().min(1),
    hash: z.string().regex(/^[0-9a-f]{64}$/),
    at,
  }),
  z.object({
    credential: z.enum(['session', 'revocation']),
    hash: z.string().regex(/^(0x)?[0-9a-f]{64}$/),
    at,
  }),
]);

/** The file exists, but one of its lines is invalid. */
export class UnreadableHeads extends Error {
  override name = 'UnreadableHeads';

  constructor(path: string, cause: unknown) {
    super(`the saved book heads ${path} cannot be read`, { cause });
  }
}

export interface SavedHeadsOptions {
  /** Heads of all books, from which a missing file is written again. */
  readonly all?: () => AsyncIterable<readonly KnownHead[]>;
  /** Called when the file is missing, before it is written again. */
  readonly onMissing?: () => void;
  /** Called once when heads cannot be written, and not again before a write succeeds. A timer retries the write. */
  readonly onFailure?: (error: unknown) => void;
  /** Called when the file could not be compacted. It keeps growing, and compaction is tried again after the next write. */
  readonly onCompactionFailure?: (error: unknown) => void;
  /** Called when heads can be written again. */
  readonly onRecovery?: () => void;
  /**
   * Whether the log is halted. Then no write is retried and no file is created, because an operator may have started another
   * process.
   */
  readonly isHalted?: () => boolean;
  /** Awaited before each write. */
  readonly before_write?: () => Promise<void>;
}

/**
 * Heads of books, stored outside the database as JSON lines {agent_id, position, hash, at}. The line with the highest position of a
 * book counts, not its last line, because processes that share the folder write in any order. Credentials are lines {credential,
 * hash, at}, of which the latest by `at` counts.
 */
export class SavedHeads {
  readonly #path: string;
  readonly #lock: string;
  readonly #options: SavedHeadsOptions;
  #file: { readonly fd: number; readonly inode: bigint; base_bytes: number } | null = null;
  /** Size that the file would have with one line per book, as of the last time that it was read whole. */
  #compact_bytes: number | null = null;
  #waiting = new Map<string, KnownHead>();
  /** Promises of the next write and of the running write. */
  #next: PromiseWithResolvers<void> | null = null;
  #current: { readonly done: Promise<void>; readonly since_ms: number } | null = null;
  #draining: Promise<void> = Promise.resolve();
  #compacting: Promise<void> | null = null;
  #retry: NodeJS.Timeout | null = null;
  #fails = false;

  constructor(path: string, options: SavedHeadsOptions = {}) {
    this.#path = path;
    this.#lock = `${path}.lock`;
    this.#options = options;
  }

  /**
   * Returns the saved heads. Null if there is no file.
   * @throws UnreadableHeads
   */
  async read(): Promise<readonly KnownHead[] | null> {
    return (await this.#readWhole())?.heads ?? null;
  }

  /** Reads the file at a start. Compacts a file that has grown, so that its size stays bounded across starts. */
  async open(): Promise<readonly KnownHead[] | null> {
    const whole = await this.#readWhole();
    if (whole === null) return null;
    this.#compact_bytes = whole.compact_bytes;
    const bytes_max = Math.max(COMPACTED_BYTES_MIN, GROWTH_MAX_AT_START * whole.compact_bytes);
    if (whole.bytes > bytes_max) await this.#compacted();
    return whole.heads;
  }

  /** Creates the file. Returns false if another process has created it in the meantime. */
  async begin(heads: AsyncIterable<readonly KnownHead[]>): Promise<boolean> {
    return this.#put(heads, () => inodeOf(this.#path) === null);
  }

  /** Replaces the file with other heads. Called only after a break was declared. */
  async restart(heads: () => AsyncIterable<readonly KnownHead[]>): Promise<void> {
    // `#put` fails if the lock is lost before the file is replaced, and is then repeated.
    while (!(await this.#put(heads(), () => true)));
  }

  /** Starts writing immediately. Heads that are added during a write are written together after it. */
  add(heads: Iterable<KnownHead>): void {
    for (const head of heads) keepNewest(this.#waiting, head);
    this.#begin();
  }

  /**
   * Resolves when all added heads are on disk.
   * @throws if they cannot be written, or the disk does not answer in time
   */
  async whenSaved(): Promise<void> {
    this.#begin();
    const saving = this.#next?.promise ?? this.#current?.done;
    if (saving === undefined) return;
    const impatience = new AbortController();
    const late = sleep(WRITE_MS_MAX, null, { signal: impatience.signal, ref: false }).then(
      () => Promise.reject(new Error(`the disk has not answered in ${WRITE_MS_MAX} ms`)),
      () => {},
    );
    try {
      await Promise.race([saving, late]);
    } finally {
      impatience.abort();
    }
  }

  /** Whether the last write failed or the running one is overdue. Then no response that depends on saved heads is sent. */
  get fails(): boolean {
    return this.#fails || (this.#current !== null && performance.now() - this.#current.since_ms > WRITE_MS_MAX);
  }

  /** Writes the heads that are still waiting, and closes the file. */
  async close(): Promise<void> {
    if (this.#retry) clearTimeout(this.#retry);
    if (!this.#options.isHalted?.()) this.#begin();
    await this.#draining;
    if (this.#retry) clearTimeout(this.#retry);
    await this.#compacting;
    this.#letGo();
  }

  #begin(): void {
    if (this.#waiting.size === 0) return;
    const idle = this.#next === null && this.#current === null;
    this.#next ??= withHandledRejection(Promise.withResolvers<void>());
    if (idle) this.#draining = this.#drain();
  }

  async #drain(): Promise<void> {
    for (let round = this.#next; round !== null; round = this.#next) {
      const heads = this.#waiting;
      this.#waiting = new Map();
      this.#next = null;
      this.#current = { done: round.promise, since_ms: performance.now() };
      try {
        await this.#write([...heads.values()]);
        this.#succeeded();
        round.resolve();
      } catch (error) {
        const added = this.#waiting;
        this.#waiting = heads;
        for (const head of added.values()) keepNewest(this.#waiting, head);
        this.#failed(error);
        round.reject(error);
      }
      this.#current = null;
    }
  }

  #succeeded(): void {
    if (this.#fails) this.#options.onRecovery?.();
    this.#fails = false;
  }

  #failed(error: unknown): void {
    if (!this.#fails) this.#options.onFailure?.(error);
    this.#fails = true;
    if (this.#retry) clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#options.isHalted?.() || this.#begin(), RETRY_MS).unref();
  }

  async #write(heads: readonly KnownHead[]): Promise<void> {
    await this.#options.before_write?.();
    const text = linesOf(heads);
    for (;;) {
      const file = await withFileLock(this.#lock, () => {
        const file = this.#opened();
        if (file === null) return null;
        cutTornLine(file.fd);
        writeAll(file.fd, text);
        return file;
      });
      if (file === null) {
        await this.#writeWhole();
        continue;
      }
      await synced(file.fd);
      // If another process compacted the file or took the lock meanwhile, these lines may be missing in the new file.
      if (inodeOf(this.#path) === file.inode) break;
    }
    this.#compactIfGrown();
  }

  /** Writes a removed file again with all heads. A new file with only the latest lines would mean that no other book is known. */
  async #writeWhole(): Promise<void> {
    if (this.#options.isHalted?.()) throw new Error(`${this.#path} is not there any more`);
    this.#options.onMissing?.();
    await this.begin(this.#options.all?.() ?? pagesOf([]));
  }

  /** Writes a new file and moves it into place under the lock, if `may` allows it. Returns whether the file was replaced. */
  async #put(heads: AsyncIterable<readonly KnownHead[]>, may: () => boolean): Promise<boolean> {
    const aside = await this.#aside(heads);
    await aside.close();
    const placed = await withFileLock(this.#lock, held => {
      const allowed = may() && held();
      if (allowed) renameSync(aside.path, this.#path);
      return allowed;
    });
    if (placed) await syncFolderOf(this.#path);
    else await rm(aside.path, { force: true });
    return placed;
  }

  /** Opens the existing file, or returns it if it is open. Null if there is none. */
  #opened() {
    const inode = inodeOf(this.#path);
    if (this.#file && this.#file.inode === inode) return this.#file;
    this.#letGo();
    if (inode === null) return null;
    const fd = openSync(this.#path, constants.O_RDWR | constants.O_APPEND);
    const { ino, size } = fstatSync(fd, { bigint: true });
    this.#file = { fd, inode: ino, base_bytes: this.#compact_bytes ?? Number(size) };
    this.#compact_bytes = null;
    return this.#file;
  }

  #letGo(): void {
    if (this.#file) closeSync(this.#file.fd);
    this.#file = null;
  }

  #compactIfGrown(): void {
    if (this.#file === null || this.#compacting) return;
    const { size } = fstatSync(this.#file.fd);
    if (size < GROWTH_MAX * Math.max(COMPACTED_BYTES_MIN, this.#file.base_bytes)) return;
    this.#compacting = this.#compacted().finally(() => {
      this.#compacting = null;
    });
  }

  async #compacted(): Promise<void> {
    await this.#compact().catch(error => this.#options.onCompactionFailure?.(error));
  }

  /** Rewrites the file with one line per book. Lines that are written meanwhile are copied under the lock, so that none is lost. */
  async #compact(): Promise<void> {
    const whole = await withFileLock(this.#lock, () => openedWhole(this.#path));
    if (whole === null) return;
    try {
      const aside = await this.#aside(pagesOf((await this.#readUpTo(whole)).heads));
      const replaced = await withFileLock(this.#lock, held => {
        // Equal inodes mean that no other process has replaced the file.
        if (inodeOf(this.#path) !== inodeOfOpened(whole.fd)) return false;
        const rest = bytesFrom(whole.fd, whole.end);
        if (rest.length > 0) {
          writeAll(aside.fd, rest);
          fsyncSync(aside.fd);
        }
        if (held()) renameSync(aside.path, this.#path);
        return held();
      }).finally(() => aside.close());
      if (replaced) await syncFolderOf(this.#path);
      else await rm(aside.path, { force: true });
    } finally {
      closeSync(whole.fd);
    }
  }

  /** Writes the heads to a temporary file in the same folder and syncs it. The caller closes it. */
  async #aside(heads: AsyncIterable<readonly KnownHead[]>) {
    const path = `${this.#path}.${randomUUID()}.tmp`;
    const file: FileHandle = await open(path, 'ax', 0o600);
    try {
      for await (const page of heads) await file.appendFile(linesOf(page));
      await file.sync();
    } catch (fault) {
      await file.close();
      await rm(path, { force: true });
      throw fault;
    }
    return { path, fd: file.fd, close: () => file.close() };
  }

  async #readWhole() {
    const whole = await withFileLock(this.#lock, () => openedWhole(this.#path));
    if (whole === null) return null;
    try {
      const { heads, lines } = await this.#readUpTo(whole);
      const compact_bytes = lines === 0 ? 0 : Math.ceil((whole.end * heads.length) / lines);
      return { heads, bytes: whole.end, compact_bytes };
    } finally {
      closeSync(whole.fd);
    }
  }

  async #readUpTo({ fd, end }: WholeFile): Promise<{ readonly heads: readonly KnownHead[]; readonly lines: number }> {
    const newest = new Map<string, KnownHead>();
    // If two lines have different hashes at one position, only one can be right, so both are kept.
    const contradicting: KnownHead[] = [];
    let lines = 0;
    if (end === 0) return { heads: [], lines };
    const input = createReadStream(this.#path, { fd, start: 0, end: end - 1, autoClose: false });
    try {
      for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
        lines++;
        const head = Line.parse(JSON.parse(line));
        const known = keepNewest(newest, head);
        if (known !== head && rankOf(known) === rankOf(head) && known.hash !== head.hash) contradicting.push(head);
      }
    } catch (fault) {
      throw new UnreadableHeads(this.#path, fault);
    }
    const still = contradicting.filter(head => rankOf(keepNewest(newest, head)) === rankOf(head));
    return { heads: [...newest.values(), ...still], lines };
  }
}

/** Key of a line. Of the lines with the same key, the one with the highest rank counts. */
function subjectOf(head: KnownHead): string {
  return isEventHead(head) ? String(head.agent_id) : head.credential;
}

function rankOf(head: KnownHead): number {
  return isEventHead(head) ? head.position : Date.parse(head.at);
}

/** Keeps the newer head of a subject in the map and returns it. */
function keepNewest(heads: Map<string, KnownHead>, head: KnownHead): KnownHead {
  const subject = subjectOf(head);
  const known = heads.get(subject);
  if (known && rankOf(known) >= rankOf(head)) return known;
  heads.set(subject, head);
  return head;
}

/** Marks the rejection as handled, because `#failed` reports it. */
function withHandledRejection(round: PromiseWithResolvers<void>): PromiseWithResolvers<void> {
  round.promise.catch(() => {});
  return round;
}

async function* pagesOf(heads: readonly KnownHead[]): AsyncIterable<readonly KnownHead[]> {
  for (let from = 0; from < heads.length; from += LINES_PER_WRITE) yield heads.slice(from, from + LINES_PER_WRITE);
}

function linesOf(heads: readonly KnownHead[]): string {
  return heads.map(head => `${JSON.stringify(head)}\n`).join('');
}

function inodeOf(path: string): bigint | null {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino ?? null;
}

function inodeOfOpened(fd: number): bigint {
  return fstatSync(fd, { bigint: true }).ino;
}

/** An open file up to the end of its last whole line. */
interface WholeFile {
  readonly fd: number;
  readonly end: number;
}

/** Opens a file, and cuts off a last line that a power cut or a full disk left incomplete. Null if there is no file. */
function openedWhole(path: string): WholeFile | null {
  if (inodeOf(path) === null) return null;
  const fd = openSync(path, 'r+');
  return { fd, end: cutTornLine(fd) };
}

const LINE_BYTES_MAX = 256;
const LINE_FEED = 0x0a;

function cutTornLine(fd: number): number {
  const { size } = fstatSync(fd);
  if (size === 0) return 0;
  const last = Buffer.alloc(1);
  readSync(fd, last, 0, 1, size - 1);
  if (last[0] === LINE_FEED) return size;
  let from = size;
  // A power cut may leave more zero bytes than a line has.
  while (from > 0) {
    const to = from;
    from = Math.max(0, to - LINE_BYTES_MAX);
    const bytes = Buffer.alloc(to - from);
    readSync(fd, bytes, 0, bytes.length, from);
    const end = bytes.lastIndexOf(LINE_FEED);
    if (end === -1) continue;
    from += end + 1;
    break;
  }
  ftruncateSync(fd, from);
  return from;
}

function bytesFrom(fd: number, from: number): Buffer {
  const bytes = Buffer.alloc(Math.max(0, fstatSync(fd).size - from));
  readSync(fd, bytes, 0, bytes.length, from);
  return bytes;
}

/** @throws if the disk accepts only a part of the bytes. That part is cut off before the next write. */
function writeAll(fd: number, text: string | Buffer): void {
  const bytes = Buffer.from(text as string);
  if (writeSync(fd, bytes) < bytes.length) throw new Error('the disk is full');
}
