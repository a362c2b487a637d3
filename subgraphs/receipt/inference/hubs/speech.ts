import { type Dispatcher, errors } from 'undici';
import type { Channel, Piece } from '../../../piece.ts';
import type { HubFailure } from './ask.ts';
import { bytesIn, readChunk } from './chunk.ts';
import type { Usage } from './completion.ts';
import { eventsIn, OverlongEvent } from './events.ts';
import type { AssistantMessage } from './message.ts';
import { SpokenMessage } from './spoken-message.ts';

/** What a hub said until it came to its end or broke off. */
export interface Spoken {
  readonly message: AssistantMessage;
  /** What the message is made of, in the order in which each of it began. */
  readonly began: readonly Channel[];
  /** As the hub puts it; null where it ended without a word on it. */
  readonly finish_reason: string | null;
  readonly usage: Usage | null;
  /** Why it broke off; null where it came to its end. */
  readonly broke_off: HubFailure | null;
}

export interface SpeechBounds {
  readonly text_bytes_max: number;
  readonly event_chars_max: number;
}

const DONE = '[DONE]';
/** What may follow the last event: read away, so that the connection can be used again. */
const TRAILER_BYTES_MAX = 16 * 1024;

type Body = Dispatcher.ResponseData['body'];

/**
 * One hub's streamed answer. It is whole where it has begun and ends with `[DONE]`, or has named its finish reason; all
 * else (a cut connection, a bound exceeded, an event that is no chunk) is to break off, with what was said until then.
 */
export class Speech {
  readonly #bounds: SpeechBounds;
  /** Why reading was aborted; null where it was not. */
  readonly #aborted: () => HubFailure | null;
  readonly #message = new SpokenMessage();
  #bytes = 0;
  #finish_reason: string | null = null;
  #usage: Usage | null = null;
  #done = false;
  #begun = false;
  #broke_off: HubFailure | null = null;

  constructor(bounds: SpeechBounds, aborted: () => HubFailure | null) {
    this.#bounds = bounds;
    this.#aborted = aborted;
  }

  get spoken(): Spoken {
    return {
      message: this.#message.message,
      began: this.#message.began,
      finish_reason: this.#finish_reason,
      usage: this.#usage,
      broke_off: this.#broke_off,
    };
  }

  /** What is said, piece by piece; never throws. As long as nobody reads on, the hub's connection is not read. */
  async *pieces(body: Body): AsyncGenerator<Piece> {
    try {
      for await (const data of eventsIn(body.iterator({ destroyOnReturn: false }), this.#bounds.event_chars_max)) {
        this.#done = data === DONE;
        const pieces = this.#done ? null : this.#heard(data);
        if (pieces === null) break;
        yield* pieces;
      }
      this.#breakOff('cut_off');
    } catch (error) {
      this.#breakOff(this.#aborted() ?? failureOf(error));
    } finally {
      if (this.#done) void body.dump({ limit: TRAILER_BYTES_MAX }).catch(() => {});
      else body.destroy();
    }
  }

  get #whole(): boolean {
    return this.#finish_reason !== null || (this.#done && this.#begun);
  }

  /** What one event adds; null where the speech ends with it. */
  #heard(data: string): readonly Piece[] | null {
    const reading = readChunk(data);
    if (reading.kind !== 'chunk') return this.#breakOff(reading.kind);
    const { delta, finish_reason, usage } = reading;
    // Nothing of an event is kept of which not all can be.
    if (!this.#message.fits(delta ?? {})) return this.#breakOff('not_a_chunk');
    this.#bytes += bytesIn(delta ?? {});
    if (this.#bytes > this.#bounds.text_bytes_max) return this.#breakOff('too_large');
    this.#finish_reason = finish_reason ?? this.#finish_reason;
    this.#usage = usage ?? this.#usage;
    this.#begun ||= delta !== null;
    return this.#message.take(delta ?? {});
  }

  /** What comes after the last word can spoil nothing any more. */
  #breakOff(reason: HubFailure): null {
    if (!this.#whole) this.#broke_off ??= reason;
    return null;
  }
}

function failureOf(error: unknown): HubFailure {
  if (error instanceof OverlongEvent) return 'too_large';
  if (error instanceof errors.BodyTimeoutError) return 'timeout';
  return error instanceof TypeError && 'code' in error && error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA'
    ? 'not_json'
    : 'cut_off';
}
