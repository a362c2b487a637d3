import { EventEmitter } from 'node:events';
import { holderOf } from '../../../schema/address-holder.ts';
import { bounds } from './bounds.ts';

/** What one message takes of the room for all. */
export interface FileMessage {
  /** Of each piece as it comes; false where all together hold as much as they may. */
  take(bytes: number): boolean;
  /** When what is not whole yet has to make room for another. */
  readonly lost: AbortSignal;
  /** It has come as far as it will. */
  whole(): void;
  /** Gives all of it back; twice is once. */
  release(): void;
}

interface Held {
  readonly lost: AbortController;
  bytes: number;
  whole: boolean;
}

/** Those of one sender who wait for their turn, first come first. */
type Line = Set<(taken: boolean) => void>;

/**
 * Messages with files, from their first byte until the file has gone on to where a form's would be, which has bounds of its own
 * (`Port.beginUpload`), or until the message is answered. Nobody has paid for one before it is read: so each address has one at a time,
 * while a few more wait unread, which costs a socket and no room; and what counts is what has come of them, not what they say of
 * themselves. Whoever is still sending goes before whoever comes with more, the oldest first: to stall shuts nobody out.
 */
export class FileMessages {
  readonly #bytes_max: number;
  readonly #line_ms_max: number;
  readonly #lines = new Map<string, Line>();
  /** In the order in which they began. */
  readonly #held = new Set<Held>();
  #bytes = 0;

  constructor(bytes_max: number = bounds.file_messages_bytes_max, line_ms_max: number = bounds.file_line_ms_max) {
    this.#bytes_max = bytes_max;
    this.#line_ms_max = line_ms_max;
  }

  /** Null where too many of that address wait, or one has waited for too long, or its request closed meanwhile. */
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
    const held: Held = { lost: new AbortController(), bytes: 0, whole: false };
    this.#held.add(held);
    let is_here = true;
    return {
      lost: held.lost.signal,
      take: bytes => {
        if (!this.#held.has(held) || !this.#makeRoom(bytes, held)) return false;
        held.bytes += bytes;
        this.#bytes += bytes;
        return true;
      },
      whole: () => {
        held.whole = true;
      },
      release: () => {
        if (!is_here) return;
        is_here = false;
        this.#drop(held);
        this.#leave(sender);
      },
    };
  }

  /** Nobody is cut off where that would not do. */
  #makeRoom(bytes: number, by: Held): boolean {
    if (this.#bytes + bytes <= this.#bytes_max) return true;
    const unfinished = [...this.#held].filter(held => !held.whole && held !== by);
    const lost = unfinished.reduce((sum, held) => sum + held.bytes, 0);
    if (this.#bytes - lost + bytes > this.#bytes_max) return false;
    for (const oldest of unfinished) {
      if (this.#bytes + bytes <= this.#bytes_max) break;
      // Who has sent nothing yet takes no room.
      if (oldest.bytes === 0) continue;
      this.#drop(oldest);
      oldest.lost.abort();
    }
    return true;
  }

  #drop(held: Held): void {
    if (this.#held.delete(held)) this.#bytes -= held.bytes;
  }

  #leave(sender: string): void {
    const [next] = this.#lines.get(sender) ?? [];
    if (next) next(true);
    else this.#lines.delete(sender);
  }
}
