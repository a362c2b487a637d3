import { type Dispatcher, errors } from 'undici';
import type { HubFailure } from './ask.ts';
import { readChunk } from './chunk.ts';
import type { Usage } from './completion.ts';
import { eventsIn, OverlongEvent } from './events.ts';

/** What a hub said until it came to its end or broke off. */
export interface Spoken {
  readonly text: string;
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
  #text = '';
  #bytes = 0;
  #finish_reason: string | null = null;
  #usage: Usage | null = null;
  #done = false;
  #begun = false;
  #broke_off: HubFailure | null = null;
  /** Half of a surrogate pair, until its other half comes. */
  #half = '';

  constructor(bounds: SpeechBounds, aborted: () => HubFailure | null) {
    this.#bounds = bounds;
    this.#aborted = aborted;
  }

  get spoken(): Spoken {
    return {
      text: this.#text,
      finish_reason: this.#finish_reason,
      usage: this.#usage,
      broke_off: this.#broke_off,
    };
  }

  /** The text, piece by piece; never throws. As long as nobody reads on, the hub's connection is not read. */
  async *pieces(body: Body): AsyncGenerator<string> {
    try {
      for await (const data of eventsIn(body.iterator({ destroyOnReturn: false }), this.#bounds.event_chars_max)) {
        this.#done = data === DONE;
        const piece = this.#done ? null : this.#heard(data);
        if (piece === null) break;
        if (piece !== '') yield piece;
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

  /** The text of one event; null where the speech ends with it. */
  #heard(data: string): string | null {
    const reading = readChunk(data);
    if (reading.kind !== 'chunk') return this.#breakOff(reading.kind);
    this.#finish_reason = reading.finish_reason ?? this.#finish_reason;
    this.#usage = reading.usage ?? this.#usage;
    this.#begun ||= reading.text !== null;
    const text = this.#half + (reading.text ?? '');
    this.#half = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : '';
    const piece = text.slice(0, text.length - this.#half.length).toWellFormed();
    this.#bytes += Buffer.byteLength(piece);
    if (this.#bytes > this.#bounds.text_bytes_max) return this.#breakOff('too_large');
    this.#text += piece;
    return piece;
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
