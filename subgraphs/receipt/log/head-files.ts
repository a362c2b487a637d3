import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { systemClock } from '../../clock.ts';
import { syncFolderOf, writeDurably } from '../../durable-file.ts';
import { EMPTY_ROOT } from '../verify/merkle-proof.ts';
import { withFileLock } from './file-lock.ts';
import type { LogHalted, Mismatch } from './halt.ts';
import { HeadHistory, minuteOf } from './head-history.ts';
import {
  createSlots,
  isAbandoned,
  type OwnSlots,
  type ReadSlots,
  readSlots,
  SavedTreeHead,
  type SlotRecord,
  slotFiles,
  takeOver,
  UnreadableHead,
} from './head-slots.ts';
import { type HeadName, headName, isFork, isSameHead, LOG_ID, type SignedTreeHead } from './tree-head.ts';

/** Decides whether heads are of one log. */
export interface OneLog {
  /** Whether a smaller head is a prefix of a larger one: by its construction, or by a consistency proof. */
  isExtended(older: HeadName, newer: HeadName): Promise<boolean>;
  /** Called with two heads of which neither extends the other; returns what to throw. */
  stop(mismatch: Mismatch): LogHalted;
}

/** A file as it was read last. The same object is returned until the file changes. */
interface FoundHead {
  readonly epoch: number;
  /** Null after a break that left an empty log. */
  readonly head: SignedTreeHead | null;
}

const EMPTY_LOG: HeadName = { tree_size: 0, root_hash: EMPTY_ROOT.toString('hex') };

/** A file from before the first break, and one of an earlier version of this service, has no epoch. */
const Epoch = z.object({ epoch: z.int().min(0).default(0) });
const NoHead = z.strictObject({ log_id: z.literal(LOG_ID), epoch: z.int().min(1) });

/**
 * The files of a DATA_DIR with the newest heads: one of each process, which that process alone writes, and `log-head.json`, into which they
 * are merged. A process first writes its own file and then reads all others, so of two processes that write at the same time at least one
 * reads the head of the other.
 */
export class HeadFiles {
  readonly #path: string;
  readonly #folder: string;
  readonly #log: OneLog;
  readonly #history: HeadHistory;
  #own: OwnSlots | null = null;
  /** Time of the last declared break when this process first read the files. Null before that. */
  #epoch: number | null = null;
  /** The largest head that was read or is to be written. All of `#judged`, and what is in the own file, are prefixes of it. */
  #top: SignedTreeHead | null = null;
  /** What this process last put on disk, in its own file. */
  #written: SignedTreeHead | null = null;
  #judged = new WeakSet<FoundHead>();
  #reported = new WeakSet<FoundHead>();
  readonly #slots = new Map<string, ReadSlots>();
  #merged: { readonly mark: string; readonly found: FoundHead } | null = null;
  #merged_minute: string | null = null;

  constructor(path: string, log: OneLog) {
    this.#path = path;
    this.#folder = path.replace(/\.json$/, '');
    this.#log = log;
    this.#history = new HeadHistory(join(dirname(path), 'log-heads.jsonl'));
  }

  /** 0 while `log-head.json` is missing, so that it is written again. */
  get tree_size(): number {
    return this.#merged === null ? 0 : (this.#written?.tree_size ?? 0);
  }

  /** Empty if `log-head.json` is missing: its head may have been larger than all others, so they do not show what was signed. */
  readAll(): readonly SignedTreeHead[] {
    const found = this.#read();
    if (this.#merged === null) return [];
    const epoch = Math.max(...found.map(it => it.epoch));
    const heads = found.flatMap(it => (it.epoch === epoch && it.head !== null ? [it.head] : []));
    return distinct(heads).sort((one, other) => other.tree_size - one.tree_size);
  }

  readChanges(): readonly SignedTreeHead[] {
    const fresh = this.#read(this.#own?.path).filter(it => !this.#reported.has(it));
    for (const found of fresh) this.#reported.add(found);
    const later = fresh.find(it => it.epoch > this.#current);
    if (later !== undefined) this.#stopBy(later);
    return distinct(fresh.flatMap(it => (it.epoch === this.#current && it.head !== null ? [it.head] : [])));
  }

  /** Writes a head, then reads the heads of all others. @throws LogHalted if they are not of one log */
  async keep(head: SignedTreeHead): Promise<void> {
    // Heads come from the database as well: one that was altered there never gets here.
    SavedTreeHead.parse(head);
    if (this.#epoch === null) await this.#takeIn();
    // What is known to be of another log is not even written.
    await this.#judge(head);
    // The files of processes count only beside it.
    if (this.#readMerged() === null) await this.#writeMerged();
    if (head.tree_size > (this.#written?.tree_size ?? -1)) await this.#writeOwn();
    await this.#takeIn();
    await this.#history.keep(head);
    const minute = minuteOf(head);
    if (minute === this.#merged_minute) return;
    await this.#merge();
    this.#merged_minute = minute;
  }

  async restart(head: SignedTreeHead | null): Promise<void> {
    const aside = this.#aside();
    for (let replaced = false; !replaced; ) {
      const there = markOf(this.#path);
      // Later than each that can be read, and than one that cannot.
      this.#epoch = Math.max(systemClock.now_ms(), ...this.#readable().map(({ epoch }) => epoch + 1));
      await writeDurably(aside, mergedText(this.#epoch, head));
      replaced = await this.#replaceMerged(aside, () => markOf(this.#path) === there);
    }
    await syncFolderOf(this.#path);
    // None of them counts beside the new epoch. One that cannot be read would be in the way.
    for (const path of slotFiles(this.#folder).heads) rmSync(path, { force: true });
    this.#leaveOwn();
    this.#top = head;
    this.#written = null;
    this.#noteMerged();
    if (head !== null) await this.#history.keep(head);
  }

  /** A file that cannot be merged now stays for another process, or the next start. */
  async close(): Promise<void> {
    if (this.#own === null) return;
    const { path } = this.#own;
    try {
      await this.#merge();
      rmSync(path, { force: true });
    } catch {
      // Nothing is lost: its head counts where it is.
    }
    this.#leaveOwn();
  }

  get #current(): number {
    return this.#epoch ?? 0;
  }

  /** All files but one. @throws UnreadableHead */
  #read(but: string | null = null): readonly FoundHead[] {
    const paths = slotFiles(this.#folder).heads;
    const slots = paths.flatMap(path => (path === but ? [] : (this.#readSlot(path) ?? [])));
    for (const path of this.#slots.keys()) if (!paths.includes(path)) this.#slots.delete(path);
    // Last: a file that was merged meanwhile has gone after its head was there.
    const merged = this.#readMerged();
    const all = merged === null ? slots : [...slots, merged];
    this.#epoch ??= Math.max(0, ...all.map(({ epoch }) => epoch));
    return all;
  }

  #readSlot(path: string): FoundHead | null {
    const found = readSlots(path, this.#slots.get(path) ?? null);
    if (found !== null) this.#slots.set(path, found);
    return found;
  }

  #readMerged(): FoundHead | null {
    const mark = markOf(this.#path);
    if (mark === null) this.#merged = null;
    else if (mark !== this.#merged?.mark) {
      const found = parseMerged(this.#path);
      this.#merged = found && { mark, found };
    }
    return this.#merged?.found ?? null;
  }

  /** What can be read of files of which others are damaged. */
  #readable(): readonly FoundHead[] {
    const reads = slotFiles(this.#folder).heads.map(path => () => this.#readSlot(path));
    return [...reads, () => this.#readMerged()].flatMap(read => {
      try {
        return read() ?? [];
      } catch (fault) {
        if (fault instanceof UnreadableHead) return [];
        throw fault;
      }
    });
  }

  /** Requires that all other heads are of one log with ours. @throws LogHalted, UnreadableHead */
  async #takeIn(): Promise<void> {
    for (const found of this.#read(this.#own?.path)) {
      if (this.#judged.has(found)) continue;
      if (found.epoch > this.#current) throw this.#stopBy(found);
      if (found.epoch === this.#current && found.head !== null) await this.#judge(found.head);
      this.#judged.add(found);
    }
  }

  async #judge(head: SignedTreeHead): Promise<void> {
    const top = this.#top;
    if (top === null || isSameHead(top, head)) {
      this.#top ??= head;
      return;
    }
    const [older, newer] = top.tree_size < head.tree_size ? [top, head] : [head, top];
    if (isFork(top, head) || !(await this.#log.isExtended(older, newer)))
      throw this.#log.stop({ known: top, found: head });
    this.#top = newer;
  }

  /** A break was declared while this process ran: its heads may be from before, and count no more. */
  #stopBy({ head }: FoundHead): LogHalted {
    return this.#log.stop({ known: headName(head ?? EMPTY_LOG), found: headName(this.#top ?? EMPTY_LOG) });
  }

  async #writeOwn(): Promise<void> {
    const record = this.#record();
    while (!(await this.#write(record))) this.#leaveOwn();
    this.#written = record.head;
  }

  async #write(record: SlotRecord): Promise<boolean> {
    if (this.#own !== null) return this.#own.write(record);
    this.#own = await createSlots(this.#folder, record);
    return this.#own.isOwn();
  }

  #record(): SlotRecord {
    if (this.#top === null) throw new Error('there is no head to write');
    return { epoch: this.#current, head: this.#top };
  }

  #leaveOwn(): void {
    this.#own?.close();
    this.#own = null;
  }

  /** Takes over the heads of processes that are taken for dead, and removes their files once `log-head.json` extends them. */
  async #merge(): Promise<void> {
    const { heads, unfinished } = slotFiles(this.#folder);
    // Marked before they are read: what a process that still lives writes later, it writes to another file as well.
    const dead = heads.filter(path => path !== this.#own?.path && isAbandoned(path) && takeOver(path));
    await this.#takeIn();
    await this.#writeMerged();
    for (const path of [...dead, ...unfinished.filter(isAbandoned)]) rmSync(path, { force: true });
  }

  /** Resolves when `log-head.json` has the largest head, durably. */
  async #writeMerged(): Promise<void> {
    const aside = this.#aside();
    for (;;) {
      const there = this.#readMerged();
      if (there !== null && !this.#judged.has(there)) {
        await this.#takeIn();
        continue;
      }
      const { epoch, head } = this.#record();
      const stands = there?.epoch === epoch && there.head !== null && isSameHead(there.head, head);
      if (!stands) {
        await writeDurably(aside, mergedText(epoch, head));
        if (!(await this.#replaceMerged(aside, () => this.#readMerged() === there))) continue;
        this.#noteMerged();
      }
      // Also if another process has put it there: it may not have synced the folder yet.
      await syncFolderOf(this.#path);
      return;
    }
  }

  /** False if it is not what it was any more, or the lock was lost. Nothing may be awaited while the lock is held. */
  async #replaceMerged(aside: string, isUnchanged: () => boolean): Promise<boolean> {
    try {
      return await withFileLock(`${this.#path}.lock`, held => {
        if (!isUnchanged() || !held()) return false;
        renameSync(aside, this.#path);
        return true;
      });
    } finally {
      await rm(aside, { force: true });
    }
  }

  /** What this process has put there itself. */
  #noteMerged(): void {
    const found = this.#readMerged();
    if (found === null) return;
    this.#judged.add(found);
    this.#reported.add(found);
  }

  /** Processes in containers of their own share the folder, and often their number. */
  #aside(): string {
    return `${this.#path}.${randomUUID()}.tmp`;
  }
}

function mergedText(epoch: number, head: SignedTreeHead | null): string {
  const facts = { ...(head ?? { log_id: LOG_ID }), ...(epoch > 0 && { epoch }) };
  return `${JSON.stringify(facts, null, 2)}\n`;
}

/** Null if it is gone. @throws UnreadableHead */
function parseMerged(path: string): FoundHead | null {
  try {
    const facts: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const without = NoHead.safeParse(facts);
    if (without.success) return { epoch: without.data.epoch, head: null };
    return { epoch: Epoch.parse(facts).epoch, head: SavedTreeHead.parse(facts) };
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new UnreadableHead(path, fault);
  }
}

/** Each rename puts another file there, with a number and a time of its own. */
function markOf(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.ino}:${stat.ctimeNs}` : null;
}

function distinct(heads: readonly SignedTreeHead[]): SignedTreeHead[] {
  return heads.filter((head, index) => heads.findIndex(other => isSameHead(other, head)) === index);
}
