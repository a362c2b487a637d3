import type { JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import type { Piece } from '../../subgraphs/piece.ts';
import type { StreamedWork } from '../../subgraphs/sale.ts';
import type { Faults } from '../operations/faults.ts';
import { TextChannel } from './text-channel.ts';

type Source = Pick<StreamedWork<JsonObject>, 'pieces' | 'cancel'>;

/** Returns the driver of a paid stream. */
export function drivenBy(faults: Faults | null, source: Source): StreamDriver {
  return new StreamDriver(source, {
    buffer_bytes_max: limits.stream_buffer_bytes_max,
    ...(faults && { reached: () => faults.reach('mid_stream') }),
  });
}

interface DriverOptions {
  /** Bytes that may be buffered before `release`. At that size the source must wait. */
  readonly buffer_bytes_max: number;
  /** Called after each piece that follows `release`. */
  readonly reached?: () => Promise<void>;
}

/**
 * Reads a source to its end, even if its reader leaves. Before `release` the money has not moved, and it reads only while its buffer has
 * room. Afterwards it reads without a limit.
 */
export class StreamDriver {
  readonly pieces: AsyncIterable<Piece>;
  /** Resolves at the end of the source. */
  readonly ended: Promise<void>;
  readonly #source: Source;
  readonly #channel = new TextChannel();
  readonly #released = Promise.withResolvers<void>();
  #free = false;

  constructor(source: Source, options: DriverOptions) {
    this.#source = source;
    this.pieces = this.#channel;
    this.ended = this.#run(options).finally(() => this.#channel.end());
    // The listener may have gone by then, so a rejection must count as handled.
    this.ended.catch(() => {});
  }

  release(): void {
    this.#free = true;
    this.#released.resolve();
  }

  /** Disconnects the source. The text ends with the pieces that were read so far. */
  cancel(): void {
    this.#source.cancel();
    this.release();
  }

  async #run({ buffer_bytes_max, reached }: DriverOptions): Promise<void> {
    for await (const piece of this.#source.pieces) {
      this.#channel.write(piece);
      if (this.#free) await reached?.();
      else if (this.#channel.held_bytes >= buffer_bytes_max) await this.#released.promise;
    }
  }
}

/** Streams that this process completes, with or without readers. A clean stop waits for them before the database is closed. */
export class StreamsInFlight {
  readonly #running = new Map<Promise<unknown>, () => void>();
  #stopping: NodeJS.Timeout | null = null;
  #cut = false;

  /** Adds a stream. `done` resolves after everything that follows its last piece, and `cancel` ends it early. */
  add(done: Promise<unknown>, cancel: () => void): void {
    const running = done.catch(() => {}).finally(() => this.#running.delete(running));
    this.#running.set(running, cancel);
    if (this.#cut) cancel();
  }

  /** Gives streams this time to end. After it the rest are cut off, and recorded without the rest of their answers. */
  stop(patience_ms: number): void {
    this.#stopping ??= setTimeout(() => this.cut(), patience_ms);
  }

  cut(): void {
    this.#cut = true;
    for (const cancel of this.#running.values()) cancel();
  }

  async ended(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.keys());
    if (this.#stopping) clearTimeout(this.#stopping);
  }
}
