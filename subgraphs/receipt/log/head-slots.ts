import { createHash, randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fdatasync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { syncFolderOf, writeDurably } from '../../durable-file.ts';
import { LOG_ID, type SignedTreeHead, treeHeadHash } from './tree-head.ts';

/*
 * The file of one process: its newest head, in two slots that are written in turn. A write in place with fdatasync takes a third of the
 * time of a new file with two fsyncs and a rename, and a write that is cut short leaves the other slot whole.
 */

const hash = z.string().regex(/^[0-9a-f]{64}$/);
/** A damaged head does not match its own hash. */
export const SavedTreeHead = z
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

  constructor(path: string, cause?: unknown) {
    super(`the saved log head ${path} cannot be read`, { cause });
  }
}

/** A head as a process has saved it. */
export interface SlotRecord {
  /** Time of the last declared break that the process knew, Unix milliseconds; 0 before the first. */
  readonly epoch: number;
  readonly head: SignedTreeHead;
}

const Slot = z.object({ sequence: z.int().min(1), epoch: z.int().min(0), head: SavedTreeHead });

/** A page of memory and at least one sector of any disk, so that a torn write of one slot does not reach the other. */
export const SLOT_BYTES = 4_096;
const FILE_BYTES = 2 * SLOT_BYTES;
const ENDING = '.slots';
const ASIDE = '.tmp';
/** Mode of a file that is being taken over: its process, should it still live, writes there no more. */
const TAKEN_MODE = 0o400;
/** A living process that saves nothing for this long finds its file taken over, and begins another one. */
const ABANDONED_AFTER_MS = 60_000;

const syncData = promisify(fdatasync);

/** One slot: SHA-256 of a JSON text, that text, and blanks, so that the file can also be read with `cat`. */
function slotBytes(sequence: number, { epoch, head }: SlotRecord): Buffer {
  const text = JSON.stringify({ sequence, epoch, head });
  const line = `${sha256(text)} ${text}\n`;
  const bytes = Buffer.alloc(SLOT_BYTES, ' ');
  if (Buffer.byteLength(line) > SLOT_BYTES) throw new Error(`a signed tree head is longer than ${SLOT_BYTES} bytes`);
  bytes.write(line);
  return bytes;
}

/** The newest whole slot; null if there is none. */
function newestSlot(bytes: Buffer): z.infer<typeof Slot> | null {
  const slots = [bytes.subarray(0, SLOT_BYTES), bytes.subarray(SLOT_BYTES)].map(parseSlot);
  return slots.reduce((newest, slot) => ((slot?.sequence ?? 0) > (newest?.sequence ?? 0) ? slot : newest), null);
}

function parseSlot(bytes: Buffer): z.infer<typeof Slot> | null {
  const [line = ''] = bytes.toString('utf8').split('\n', 1);
  const text = line.slice(65);
  return line.startsWith(`${sha256(text)} `) ? Slot.parse(JSON.parse(text)) : null;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The files of all processes, by path, and files that were not finished. */
export function slotFiles(folder: string): {
  readonly heads: readonly string[];
  readonly unfinished: readonly string[];
} {
  const names = namesIn(folder);
  const ending = (end: string) => names.filter(name => name.endsWith(end)).map(name => join(folder, name));
  return { heads: ending(ENDING), unfinished: ending(ASIDE) };
}

/** None before the first head is saved; also if something else is in the place of the folder, which is found at each write. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw fault;
  }
}

/** The file as bytes; null if it is gone. */
function readSlotBytes(path: string): Buffer | null {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new UnreadableHead(path, fault);
  }
  try {
    const bytes = Buffer.alloc(FILE_BYTES);
    readSync(file, bytes, 0, FILE_BYTES, 0);
    return bytes;
  } finally {
    closeSync(file);
  }
}

export interface ReadSlots extends SlotRecord {
  readonly bytes: Buffer;
}

/** A whole slot that this version does not understand may be the newest one. @throws UnreadableHead */
function newestSlotOf(path: string, bytes: Buffer): ReturnType<typeof newestSlot> {
  try {
    return newestSlot(bytes);
  } catch (fault) {
    throw new UnreadableHead(path, fault);
  }
}

/** The newest head in a file: `known` if the file is as it was then, null if it is gone. @throws UnreadableHead */
export function readSlots(path: string, known: ReadSlots | null): ReadSlots | null {
  let last: Buffer | null = null;
  for (;;) {
    const bytes = readSlotBytes(path);
    if (bytes === null) return null;
    if (known?.bytes.equals(bytes)) return known;
    const newest = newestSlotOf(path, bytes);
    if (newest !== null) return { epoch: newest.epoch, head: newest.head, bytes };
    // While it is read, its process may write one slot after the other; only what stays the same is damaged.
    if (last?.equals(bytes)) throw new UnreadableHead(path);
    last = bytes;
  }
}

/** Whether its process has not written for so long that it is taken for dead, or it has left a file unfinished. */
export function isAbandoned(path: string): boolean {
  const modified_ms = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return modified_ms !== undefined && Date.now() - modified_ms > ABANDONED_AFTER_MS;
}

/**
 * Marks a file as being taken over: whatever its process writes from now on, that process no longer relies on. False if the file is gone or
 * the file system has no modes.
 */
export function takeOver(path: string): boolean {
  try {
    chmodSync(path, TAKEN_MODE);
    return (statSync(path).mode & 0o777) === TAKEN_MODE;
  } catch (fault) {
    if (UNMARKABLE.has((fault as NodeJS.ErrnoException).code ?? '')) return false;
    throw fault;
  }
}

/** The file is gone, or this file system or its owner allows no other mode. */
const UNMARKABLE: ReadonlySet<string> = new Set(['ENOENT', 'EPERM', 'EACCES', 'ENOTSUP', 'EROFS']);

/** The file of this process. */
export interface OwnSlots {
  readonly path: string;
  /**
   * Whether the file still was this process's when the record was on disk. False if another process has begun to take it over, or it is
   * not under its name any more: then that process may not have read the record, and it must be written to a new file.
   */
  write(record: SlotRecord): Promise<boolean>;
  /** Whether it still is this process's. */
  isOwn(): boolean;
  close(): void;
}

/** A new file, under a name that no process ever has again. Under its final name it always has at least one whole slot. */
export async function createSlots(folder: string, record: SlotRecord): Promise<OwnSlots> {
  const name = randomUUID();
  const [path, aside] = [join(folder, name + ENDING), join(folder, name + ASIDE)];
  let sequence = 1;
  await writeDurably(aside, `${slotBytes(sequence, record)}${' '.repeat(SLOT_BYTES)}`);
  // Opened before it has the name under which others could take it over.
  const file = openSync(aside, 'r+');
  const { ino, mode } = fstatSync(file);
  try {
    renameSync(aside, path);
    await syncFolderOf(path);
    // The folder's own name, in case it is new as well.
    await syncFolderOf(folder);
  } catch (fault) {
    closeSync(file);
    rmSync(aside, { force: true });
    throw fault;
  }
  const isOwn = () => {
    const now = statSync(path, { throwIfNoEntry: false });
    return now?.ino === ino && now.mode === mode;
  };
  return {
    path,
    isOwn,
    async write(next) {
      // A slot whose write failed is written again: the other one has the last head that is on disk.
      const bytes = slotBytes(sequence + 1, next);
      const written = writeSync(file, bytes, 0, SLOT_BYTES, (sequence % 2) * SLOT_BYTES);
      if (written !== SLOT_BYTES) throw new Error(`${written} of ${SLOT_BYTES} bytes were written to ${path}`);
      await syncData(file);
      sequence += 1;
      return isOwn();
    },
    close: () => closeSync(file),
  };
}
