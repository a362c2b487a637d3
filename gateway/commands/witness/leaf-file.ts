import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

const HASH = 32;
/** Read at once. */
const LEAVES_MAX = 4_096;

/** The leaf hashes of a log, end to end. It only grows: what is cut off again is a tail that no cosigned head covers. */
export class LeafFile {
  readonly #file: FileHandle;
  #count: number;

  private constructor(file: FileHandle, count: number) {
    this.#file = file;
    this.#count = count;
  }

  static async open(path: string): Promise<LeafFile> {
    const file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    const { size } = await file.stat();
    return new LeafFile(file, Math.floor(size / HASH));
  }

  get count(): number {
    return this.#count;
  }

  /** From leaf `from` up to `to`, in pieces. */
  async *read(from: number, to: number): AsyncGenerator<Buffer> {
    for (let at = from; at < to; at += LEAVES_MAX) {
      const piece = Buffer.alloc(Math.min(LEAVES_MAX, to - at) * HASH);
      const { bytesRead } = await this.#file.read(piece, 0, piece.length, at * HASH);
      if (bytesRead !== piece.length) throw new Error(`the leaf hashes end before leaf ${to}`);
      for (let start = 0; start < piece.length; start += HASH) yield piece.subarray(start, start + HASH);
    }
  }

  /** Behind the last one. On disk once `sync` has resolved. */
  async append(hashes: Buffer): Promise<void> {
    await this.#file.write(hashes, 0, hashes.length, this.#count * HASH);
    this.#count += hashes.length / HASH;
  }

  sync(): Promise<void> {
    return this.#file.datasync();
  }

  /** Cuts off what lies behind the first `count`. */
  async cut(count: number): Promise<void> {
    await this.#file.truncate(count * HASH);
    this.#count = count;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
