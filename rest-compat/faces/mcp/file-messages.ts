import { holderOf } from '../../../schema/address-holder.ts';
import { bounds } from './bounds.ts';

/** What one message takes of the room for all. */
export interface FileMessage {
  /** Of each piece as it comes; false where all together hold as much as they may. */
  take(bytes: number): boolean;
  /** Gives all of it back; twice is once. */
  release(): void;
}

/**
 * Messages with files, from their first byte until the file has gone on to where a form's would be, which has bounds of its own
 * (`Port.beginUpload`), or until the message is answered. Nobody has paid for one before it is read: so each address has one at a time,
 * and what counts is what has come of them, not what they say of themselves. Who stalls is cut off as at every door (`request_ms_max`).
 */
export class FileMessages {
  readonly #bytes_max: number;
  readonly #senders = new Set<string>();
  #bytes = 0;

  constructor(bytes_max: number = bounds.file_messages_bytes_max) {
    this.#bytes_max = bytes_max;
  }

  /** Null where another of that address is on its way. */
  begin(address: string): FileMessage | null {
    const sender = holderOf(address);
    if (this.#senders.has(sender)) return null;
    this.#senders.add(sender);
    let held: number | null = 0;
    return {
      take: bytes => {
        if (held === null || this.#bytes + bytes > this.#bytes_max) return false;
        held += bytes;
        this.#bytes += bytes;
        return true;
      },
      release: () => {
        if (held === null) return;
        this.#bytes -= held;
        this.#senders.delete(sender);
        held = null;
      },
    };
  }
}
