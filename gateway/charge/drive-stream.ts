import type { JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import type { Piece } from '../../subgraphs/piece.ts';
import type { Speaking } from '../../subgraphs/sale.ts';
import { Outlet } from './text-channel.ts';
import type { Till } from './till.ts';

type Source = Pick<Speaking<JsonObject>, 'pieces' | 'cancel'>;

/** As the till runs it. */
export function pumpOf(till: Pick<Till, 'faults'>, source: Source): Pump {
  return new Pump(source, {
    buffer_bytes_max: limits.stream_buffer_bytes_max,
    reached: () => till.faults.reach('mid_stream'),
  });
}

export interface PumpOptions {
  /** What may be taken in before `release`; then whoever speaks has to wait for it. */
  readonly buffer_bytes_max: number;
  /** After each piece that was taken in once released. */
  reached(): Promise<void>;
}

/**
 * Brings what is spoken to its end, whether anybody reads it or not. Before it is released (the money has not moved yet)
 * it listens for as long as its buffer has room; after that nothing holds it back.
 */
export class Pump {
  readonly pieces: AsyncIterable<Piece>;
  /** Resolves when all is said. */
  readonly ended: Promise<void>;
  readonly #source: Source;
  readonly #outlet = new Outlet();
  readonly #released = Promise.withResolvers<void>();
  #free = false;

  constructor(source: Source, options: PumpOptions) {
    this.#source = source;
    this.pieces = this.#outlet;
    this.ended = this.#run(options).finally(() => this.#outlet.end());
    // Who listens to it may be gone by then.
    this.ended.catch(() => {});
  }

  release(): void {
    this.#free = true;
    this.#released.resolve();
  }

  /** Whoever speaks is cut off, and the pump runs dry. */
  cancel(): void {
    this.#source.cancel();
    this.release();
  }

  async #run({ buffer_bytes_max, reached }: PumpOptions): Promise<void> {
    for await (const piece of this.#source.pieces) {
      this.#outlet.write(piece);
      if (this.#free) await reached();
      else if (this.#outlet.held_bytes >= buffer_bytes_max) await this.#released.promise;
    }
  }
}
