import { EventEmitter } from 'node:events';
import { holderOf } from '../../../schema/address-holder.ts';
import { bounds } from './bounds.ts';

/** The space that one message takes of the space for all. */
export interface FileMessage {
  /** Called for each piece; false if all messages together exceed the limit. */
  take(bytes: number): boolean;
  /** Aborted if an incomplete message has to make room for another. */
  readonly lost: AbortSignal;
  /** The message is complete. */
  markComplete(): void;
  /** Frees the space. Further calls have no effect. */
  release(): void;
}

interface Entry {
  readonly lost: AbortController;
  bytes: number;
  whole: boolean;
}

/** Waiting messages of one sender, the first first. */
type Line = Set<(taken: boolean) => void>;

/**
 * Limits the space of messages with files, from their first byte until the file is handed to `Port.beginUpload`, which has its own limit,
 * or until the message is answered. They are unpaid until they are read. So each address has one at a time, and a few more wait unread,
 * which only takes a socket. Received bytes count, not the announced length. If space runs out the oldest incomplete messages are dropped,
 * so that slow senders cannot block others.
 */
export class FileMessages {
  readonly #bytes_max: number;
  readonly #line_ms_max: number;
  readonly #lines = new Map<string, Line>();
  /** In the order in which they began. */
  readonly #entries = new Set<Entry>();
  #bytes = 0;

  constructor(bytes_max: number = bounds.file_messages_bytes_max, line_ms_max: number = bounds.file_line_ms_max) {
    this.#bytes_max = bytes_max;
    this.#line_ms_max = line_ms_max;
  }

  /** Null if too many messages of that address wait, if this one has waited too long, or if its request was closed. */
  async begin(address: string, request: EventEmitter = new EventEmitter()): Promise<FileMessage | null> {
    const sender = holderOf(address);
    return (await this.#turn(sender, request)) ? this.#place(sender) : null;
  }

  #turn(sender: string, request: EventEmitter): Promise<boolean> | boolean {
    const line = this.#lines.get(sender);
    if (!line) {
      this.#lines.set(sender, new Set());
      return true;
    }
    if (line.size >= bounds.file_line_max) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const settle = (taken: boolean) => {
      line.delete(settle);
      clearTimeout(timer);
      request.off('close', giveUp);
      resolve(taken);
    };
    const giveUp = () => settle(false);
    const timer = setTimeout(giveUp, this.#line_ms_max);
    request.once('close', giveUp);
    line.add(settle);
    return promise;
  }

  #place(sender: string): FileMessage {
    const entry: Entry = { lost: new AbortController(), bytes: 0, whole: false };
    this.#entries.add(entry);
    let is_here = true;
    return {
      lost: entry.lost.signal,
      take: bytes => {
        if (!this.#entries.has(entry) || !this.#makeRoom(bytes, entry)) return false;
        entry.bytes += bytes;
        this.#bytes += bytes;
        return true;
      },
      markComplete: () => {
        entry.whole = true;
      },
      release: () => {
        if (!is_here) return;
        is_here = false;
        this.#drop(entry);
        this.#leave(sender);
      },
    };
  }

  /** Drops messages only if that frees enough space. */
  #makeRoom(bytes: number, by: Entry): boolean {
    if (this.#bytes + bytes <= this.#bytes_max) return true;
    const unfinished = [...this.#entries].filter(entry => !entry.whole && entry !== by);
    const lost = unfinished.reduce((sum, entry) => sum + entry.bytes, 0);
    if (this.#bytes - lost + bytes > this.#bytes_max) return false;
    for (const oldest of unfinished) {
      if (this.#bytes + bytes <= this.#bytes_max) break;
      // A message without bytes takes no space.
      if (oldest.bytes === 0) continue;
      this.#drop(oldest);
      oldest.lost.abort();
    }
    return true;
  }

  #drop(entry: Entry): void {
    if (this.#entries.delete(entry)) this.#bytes -= entry.bytes;
  }

  #leave(sender: string): void {
    const [next] = this.#lines.get(sender) ?? [];
    if (next) next(true);
    else this.#lines.delete(sender);
  }
}
