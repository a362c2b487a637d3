import { type Dispatcher, errors, type Pool } from 'undici';
import type { Channel, Piece } from '../../../piece.ts';
import type { HubFailure, Post } from './ask.ts';
import type { AssistantMessage, Usage } from './chat.ts';
import { eventsIn, OverlongEvent } from './events.ts';
import { bytesIn, readChunk, StreamedMessage } from './streamed-message.ts';

/** A hub's answer until it came to its end or broke off. */
export interface StreamedReply {
  readonly message: AssistantMessage;
  /** What the message is made of, in the order in which each of it began. */
  readonly began: readonly Channel[];
  /** As the hub puts it; null where it ended without a word on it. */
  readonly finish_reason: string | null;
  readonly usage: Usage | null;
  /** Why it broke off; null where it came to its end. */
  readonly broke_off: HubFailure | null;
}

export interface ReplyBounds {
  readonly text_bytes_max: number;
  readonly event_chars_max: number;
}

const DONE = '[DONE]';
/** What may follow the last event: read away, so that the connection can be used again. */
const TRAILER_BYTES_MAX = 16 * 1024;

type Body = Dispatcher.ResponseData['body'];

/**
 * One hub's streamed answer. It is whole where it has begun and ends with `[DONE]`, or has named its finish reason; all
 * else (a cut connection, a bound exceeded, an event that is no chunk) is to break off, with what came until then.
 */
class ReplyStream {
  readonly #bounds: ReplyBounds;
  /** Why reading was aborted; null where it was not. */
  readonly #aborted: () => HubFailure | null;
  readonly #message = new StreamedMessage();
  #bytes = 0;
  #finish_reason: string | null = null;
  #usage: Usage | null = null;
  #done = false;
  #begun = false;
  #broke_off: HubFailure | null = null;

  constructor(bounds: ReplyBounds, aborted: () => HubFailure | null) {
    this.#bounds = bounds;
    this.#aborted = aborted;
  }

  get reply(): StreamedReply {
    return {
      message: this.#message.message,
      began: this.#message.began,
      finish_reason: this.#finish_reason,
      usage: this.#usage,
      broke_off: this.#broke_off,
    };
  }

  /** The answer, piece by piece; never throws. As long as nobody reads on, the hub's connection is not read. */
  async *pieces(body: Body): AsyncGenerator<Piece> {
    try {
      for await (const data of eventsIn(body.iterator({ destroyOnReturn: false }), this.#bounds.event_chars_max)) {
        this.#done = data === DONE;
        const pieces = this.#done ? null : this.#take(data);
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
  #take(data: string): readonly Piece[] | null {
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

/** A question whose answer is passed on while it comes. */
export interface StreamQuestion extends Omit<Post, 'answer_bytes_max'>, ReplyBounds {
  /** Until the first piece. */
  readonly timeout_ms: number;
  /** Until the last one. */
  readonly stream_ms_max: number;
  /** Between two pieces, while they are read. */
  readonly stream_idle_ms_max: number;
}

/** A hub that has begun to answer: its first piece is in hand, or it has ended without one. */
export interface OpenReply {
  /** The first piece, and the others as they come; never throws. */
  readonly pieces: AsyncIterable<Piece>;
  reply(): StreamedReply;
  cancel(): void;
}

export type OpenOutcome =
  | { readonly kind: 'answered'; readonly listening: OpenReply }
  | { readonly kind: 'failed'; readonly reason: HubFailure };

/** Asks one hub once, and waits for its first piece. Never throws: until then the next hub may be asked. */
export async function openReply(pool: Pool, question: StreamQuestion): Promise<OpenOutcome> {
  const deadlines = new StreamDeadlines(question);
  const body = await opened(pool, question, deadlines);
  if (typeof body === 'string') return hungUp(deadlines, body);
  const stream = new ReplyStream(question, () => deadlines.aborted);
  const pieces = stream.pieces(body);
  const first = await pieces.next();
  const { broke_off } = stream.reply;
  if (first.done && broke_off !== null) return hungUp(deadlines, broke_off);
  deadlines.begun();
  return {
    kind: 'answered',
    listening: {
      pieces: deliveredPieces(first, pieces, deadlines),
      reply: () => stream.reply,
      cancel: () => deadlines.abort('cancelled'),
    },
  };
}

async function opened(
  pool: Pool,
  { path, headers, body, stream_idle_ms_max: bodyTimeout }: StreamQuestion,
  deadlines: StreamDeadlines,
): Promise<Dispatcher.ResponseData['body'] | HubFailure> {
  try {
    const response = await pool.request({ method: 'POST', path, headers, body, bodyTimeout, signal: deadlines.signal });
    // A stream that is destroyed unread says so by an error event, which would end the process.
    response.body.on('error', () => {});
    if (response.statusCode === 200) return response.body;
    response.body.destroy();
    return `status_${response.statusCode}`;
  } catch {
    return deadlines.aborted ?? 'unreachable';
  }
}

function hungUp(deadlines: StreamDeadlines, reason: HubFailure): OpenOutcome {
  deadlines.close();
  return { kind: 'failed', reason };
}

async function* deliveredPieces(
  first: IteratorResult<Piece>,
  rest: AsyncGenerator<Piece>,
  deadlines: StreamDeadlines,
): AsyncGenerator<Piece> {
  try {
    if (!first.done) yield first.value;
    yield* rest;
  } finally {
    deadlines.close();
  }
}

/** How long a hub is listened to, counted from the question; what ends it before is named. */
class StreamDeadlines {
  aborted: HubFailure | null = null;
  readonly #controller = new AbortController();
  readonly #first: NodeJS.Timeout;
  readonly #last: NodeJS.Timeout;
  readonly #canceled: AbortSignal | undefined;
  readonly #cancel = () => this.abort('cancelled');

  constructor({ timeout_ms, stream_ms_max, canceled }: StreamQuestion) {
    this.#first = setTimeout(() => this.abort('timeout'), timeout_ms);
    this.#last = setTimeout(() => this.abort('timeout'), stream_ms_max);
    this.#canceled = canceled;
    canceled?.addEventListener('abort', this.#cancel);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  begun(): void {
    clearTimeout(this.#first);
  }

  abort(reason: HubFailure): void {
    this.aborted ??= reason;
    this.close();
    this.#controller.abort();
  }

  close(): void {
    clearTimeout(this.#first);
    clearTimeout(this.#last);
    this.#canceled?.removeEventListener('abort', this.#cancel);
  }
}
