import { randomUUID } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  fdatasync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { z } from 'zod';
import { agentId } from '../../../schema/ids.ts';
import { syncFolderOf } from '../../durable-file.ts';
import { withFileLock } from '../../receipt/log/file-lock.ts';
import type { EventHead } from './compare.ts';

const synced = promisify(fdatasync);

/** Smaller files are left as they are. */
const COMPACTED_BYTES_MIN = 1 << 18;
/** So many times as large as after it was compacted last, it is compacted again: each line is written a bounded number of times. */
const GROWTH_MAX = 4;
const LINES_PER_WRITE = 5_000;

const Line = z.object({
  agent_id: z.int().min(1).transform(agentId),
  position: z.int().min(1),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
});

/** The file is there and one of its lines is none. */
export class UnreadableHeads extends Error {
  override name = 'UnreadableHeads';

  constructor(path: string, cause: unknown) {
    super(`the saved book heads ${path} cannot be read`, { cause });
  }
}

export interface SavedHeadsOptions {
  /** Hears of heads that could not be written; they are tried again with the next ones. */
  readonly failed?: (error: unknown) => void;
  /** Waited for before each write. */
  readonly before_write?: () => Promise<void>;
}

/**
 * Heads of books, kept outside the database as JSON lines {agent_id, position, hash}. Of a book the largest position counts, not the
 * last line: processes that share the folder write in any order.
 */
export class SavedHeads {
  readonly #path: string;
  readonly #lock: string;
  readonly #options: SavedHeadsOptions;
  #file: { readonly fd: number; readonly inode: bigint; base_bytes: number } | null = null;
  #waiting = new Map<number, EventHead>();
  /** Of what waits, and of what is being written. */
  #next: PromiseWithResolvers<void> | null = null;
  #current: Promise<void> | null = null;
  #draining: Promise<void> = Promise.resolve();
  #compacting: Promise<void> | null = null;

  constructor(path: string, options: SavedHeadsOptions = {}) {
    this.#path = path;
    this.#lock = `${path}.lock`;
    this.#options = options;
  }

  /** What is known of each book; null where there is no file. @throws UnreadableHeads */
  async read(): Promise<readonly EventHead[] | null> {
    const whole = await withFileLock(this.#lock, () => openedWhole(this.#path));
    if (whole === null) return null;
    try {
      return await this.#readUpTo(whole);
    } finally {
      closeSync(whole.fd);
    }
  }

  /** In the place of all that stood there. */
  async start(heads: AsyncIterable<readonly EventHead[]>): Promise<void> {
    const aside = await this.#aside(heads);
    await aside.close();
    await withFileLock(this.#lock, () => renameSync(aside.path, this.#path));
    await syncFolderOf(this.#path);
  }

  /** Nothing is known any more: the next start begins with what it finds. */
  async remove(): Promise<void> {
    await withFileLock(this.#lock, () => rmSync(this.#path, { force: true }));
    await syncFolderOf(this.#path);
  }

  /** Begins to write them at once; those that come meanwhile are written together. */
  add(heads: Iterable<EventHead>): void {
    for (const head of heads) {
      const waiting = this.#waiting.get(head.agent_id);
      if (!waiting || waiting.position < head.position) this.#waiting.set(head.agent_id, head);
    }
    if (this.#waiting.size === 0) return;
    const idle = this.#next === null && this.#current === null;
    this.#next ??= heard(Promise.withResolvers<void>());
    if (idle) this.#draining = this.#drain();
  }

  /** Resolves when all that was added is on disk; null where nothing is being written. */
  get saving(): Promise<void> | null {
    return this.#next?.promise ?? this.#current;
  }

  /** Writes what is left, and lets go of the file. */
  async close(): Promise<void> {
    if (this.#waiting.size > 0) this.add([]);
    await this.#draining;
    await this.#compacting;
    this.#letGo();
  }

  async #drain(): Promise<void> {
    for (let round = this.#next; round !== null; round = this.#next) {
      const heads = this.#waiting;
      this.#waiting = new Map();
      this.#next = null;
      this.#current = round.promise;
      await this.#write([...heads.values()]).then(round.resolve, error => {
        const added = this.#waiting;
        this.#waiting = heads;
        for (const [agent_id, head] of added) this.#waiting.set(agent_id, head);
        this.#options.failed?.(error);
        round.reject(error);
      });
      this.#current = null;
    }
  }

  async #write(heads: readonly EventHead[]): Promise<void> {
    await this.#options.before_write?.();
    const text = linesOf(heads);
    for (;;) {
      const file = await withFileLock(this.#lock, () => {
        const file = this.#opened();
        cutTornLine(file.fd);
        writeAll(file.fd, text);
        return file;
      });
      await synced(file.fd);
      // Where another process compacted the file meanwhile, or took the lock from one that stood still, these may be missing.
      if (inodeOf(this.#path) === file.inode) break;
    }
    this.#compactIfGrown();
  }

  /** The file that stands there now. */
  #opened() {
    if (this.#file?.inode === inodeOf(this.#path) && this.#file) return this.#file;
    this.#letGo();
    const fd = openSync(this.#path, 'a+', 0o600);
    const { ino, size } = fstatSync(fd, { bigint: true });
    this.#file = { fd, inode: ino, base_bytes: Number(size) };
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
    this.#compacting = this.#compact()
      .catch(error => this.#options.failed?.(error))
      .finally(() => {
        this.#compacting = null;
      });
  }

  /** One line for each book. What is written meanwhile is copied behind it under the lock, so that no line is lost. */
  async #compact(): Promise<void> {
    const whole = await withFileLock(this.#lock, () => openedWhole(this.#path));
    if (whole === null) return;
    try {
      const aside = await this.#aside(pagesOf(await this.#readUpTo(whole)));
      const replaced = await withFileLock(this.#lock, held => {
        // Open files keep their inodes: it is the same file, or another one.
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

  /** A file beside it that is on disk; its caller closes it. */
  async #aside(heads: AsyncIterable<readonly EventHead[]>) {
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

  async #readUpTo({ fd, end }: WholeFile): Promise<readonly EventHead[]> {
    const newest = new Map<number, EventHead>();
    // Two of one position cannot both stand: neither is passed over.
    const contradicting: EventHead[] = [];
    if (end === 0) return [];
    const input = createReadStream(this.#path, { fd, start: 0, end: end - 1, autoClose: false });
    try {
      for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
        const head = Line.parse(JSON.parse(line));
        const known = newest.get(head.agent_id);
        if (!known || known.position < head.position) newest.set(head.agent_id, head);
        else if (known.position === head.position && known.hash !== head.hash) contradicting.push(head);
      }
    } catch (fault) {
      throw new UnreadableHeads(this.#path, fault);
    }
    const still = contradicting.filter(head => newest.get(head.agent_id)?.position === head.position);
    return [...newest.values(), ...still];
  }
}

/** A rejection that nobody waits for is told by `failed`. */
function heard(round: PromiseWithResolvers<void>): PromiseWithResolvers<void> {
  round.promise.catch(() => {});
  return round;
}

async function* pagesOf(heads: readonly EventHead[]): AsyncIterable<readonly EventHead[]> {
  for (let from = 0; from < heads.length; from += LINES_PER_WRITE) yield heads.slice(from, from + LINES_PER_WRITE);
}

function linesOf(heads: readonly EventHead[]): string {
  return heads.map(({ agent_id, position, hash }) => `${JSON.stringify({ agent_id, position, hash })}\n`).join('');
}

function inodeOf(path: string): bigint | null {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino ?? null;
}

function inodeOfOpened(fd: number): bigint {
  return fstatSync(fd, { bigint: true }).ino;
}

/** An opened file up to the end of its last whole line. */
interface WholeFile {
  readonly fd: number;
  readonly end: number;
}

/** A line that was torn by a power cut or a full disk is cut off; null where there is no file. */
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
  // A power cut may leave a tail of zeros that is longer than a line.
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

/** @throws where the disk takes but a part of it: what it took is cut off before the next write. */
function writeAll(fd: number, text: string | Buffer): void {
  const bytes = Buffer.from(text as string);
  if (writeSync(fd, bytes) < bytes.length) throw new Error('the disk is full');
}
