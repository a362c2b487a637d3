/** More pieces than this that wait are run together: what they hold is then no more than the text itself. */
const PIECES_MAX = 1_024;

/**
 * Text on its way to one reader. Its writer never waits and nothing is dropped while somebody may still read it: what is
 * not read yet is kept, which whoever writes has to bound. When the reader leaves, what comes is let go of.
 */
export class Outlet implements AsyncIterable<string> {
  /** Bytes that wait for the reader. */
  held_bytes = 0;
  #pieces: string[] = [];
  #ended = false;
  #left = false;
  #wake: (() => void) | null = null;

  write(piece: string): void {
    if (this.#left) return;
    if (this.#pieces.length >= PIECES_MAX) this.#pieces.push((this.#pieces.pop() ?? '') + piece);
    else this.#pieces.push(piece);
    this.held_bytes += Buffer.byteLength(piece);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  [Symbol.asyncIterator](): AsyncIterator<string> {
    return {
      next: async () => {
        while (this.#pieces.length === 0 && !this.#ended && !this.#left) await this.#written();
        const value = this.#pieces.shift();
        if (value === undefined) return { done: true, value: undefined };
        this.held_bytes -= Buffer.byteLength(value);
        return { done: false, value };
      },
      return: async () => {
        this.#left = true;
        this.#pieces = [];
        this.held_bytes = 0;
        this.#wake?.();
        return { done: true, value: undefined };
      },
    };
  }

  #written(): Promise<void> {
    return new Promise(resolve => {
      this.#wake = () => {
        this.#wake = null;
        resolve();
      };
    });
  }
}
