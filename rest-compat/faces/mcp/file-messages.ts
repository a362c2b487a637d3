import { bounds } from './bounds.ts';

/**
 * Messages with files that are being read: so many bytes of them at once in this process, whoever sends them, since nobody has paid
 * for one before it is read. What is read goes on as a form's file would, and is bounded as that is (`Port.beginUpload`).
 */
export class FileMessages {
  #bytes = 0;

  /** Room for a message on its way; null where there is none. Without a file it needs none of this. */
  hold(bytes: number): (() => void) | null {
    if (bytes <= bounds.message_bytes_max) return () => {};
    if (this.#bytes + bytes > bounds.file_messages_bytes_max) return null;
    this.#bytes += bytes;
    return () => {
      this.#bytes -= bytes;
    };
  }
}
