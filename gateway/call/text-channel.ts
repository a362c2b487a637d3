import { bytesOf, type Channel, channelOf, joinPieces, type Piece } from '../../subgraphs/piece.ts';

/** Maximum number of waiting pieces. Further ones are merged by channel, so that they need no more memory than the text. */
const PIECES_MAX = 1_024;

/**
 * Text that is sent to one reader. The writer never waits, and no text is dropped while the reader is there: unread text is kept, and the
 * writer must limit it. After the reader leaves, text is dropped.
 */
export class TextChannel implements AsyncIterable<Piece> {
  /** Bytes that wait for the reader. */
  held_bytes = 0;
  #pieces: Piece[] = [];
  #ended = false;
  #left = false;
  #wake: (() => void) | null = null;

  write(piece: Piece): void {
    if (this.#left) return;
    const waiting = this.#pieces.length < PIECES_MAX ? -1 : this.#lastOf(channelOf(piece));
    const before = this.#pieces[waiting];
    if (before === undefined) this.#pieces.push(piece);
    else this.#pieces[waiting] = joinPieces(before, piece);
    this.held_bytes += bytesOf(piece);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  [Symbol.asyncIterator](): AsyncIterator<Piece> {
    return {
      next: async () => {
        while (this.#pieces.length === 0 && !this.#ended && !this.#left) await this.#written();
        const value = this.#pieces.shift();
        if (value === undefined) return { done: true, value: undefined };
        this.held_bytes -= bytesOf(value);
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

  #lastOf(channel: Channel): number {
    return this.#pieces.findLastIndex(piece => channelOf(piece) === channel);
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
