import type { Dispatcher, Pool } from 'undici';
import type { Piece } from '../../../piece.ts';
import type { HubFailure, Post } from './ask.ts';
import { Speech, type SpeechBounds, type Spoken } from './speech.ts';

/** A question whose answer is heard while it is given. */
export interface StreamQuestion extends Omit<Post, 'answer_bytes_max'>, SpeechBounds {
  /** Until the first piece. */
  readonly timeout_ms: number;
  /** Until the last one. */
  readonly stream_ms_max: number;
  /** In which it says nothing, while it is listened to. */
  readonly stream_idle_ms_max: number;
}

/** A hub that has begun to answer: its first piece is in hand, or it has said that it has nothing to say. */
export interface Listening {
  /** The first piece, and the others as they come; never throws. */
  readonly pieces: AsyncIterable<Piece>;
  spoken(): Spoken;
  cancel(): void;
}

export type Listened =
  | { readonly kind: 'answered'; readonly listening: Listening }
  | { readonly kind: 'failed'; readonly reason: HubFailure };

/** Asks one hub once, and waits for its first piece. Never throws: until then the next hub may be asked. */
export async function listenTo(pool: Pool, question: StreamQuestion): Promise<Listened> {
  const line = new Line(question);
  const body = await opened(pool, question, line);
  if (typeof body === 'string') return hungUp(line, body);
  const speech = new Speech(question, () => line.aborted);
  const pieces = speech.pieces(body);
  const first = await pieces.next();
  const { broke_off } = speech.spoken;
  if (first.done && broke_off !== null) return hungUp(line, broke_off);
  line.begun();
  return {
    kind: 'answered',
    listening: {
      pieces: listened(first, pieces, line),
      spoken: () => speech.spoken,
      cancel: () => line.abort('cancelled'),
    },
  };
}

async function opened(
  pool: Pool,
  { path, headers, body, stream_idle_ms_max: bodyTimeout }: StreamQuestion,
  line: Line,
): Promise<Dispatcher.ResponseData['body'] | HubFailure> {
  try {
    const response = await pool.request({ method: 'POST', path, headers, body, bodyTimeout, signal: line.signal });
    // A stream that is destroyed unread says so by an error event, which would end the process.
    response.body.on('error', () => {});
    if (response.statusCode === 200) return response.body;
    response.body.destroy();
    return `status_${response.statusCode}`;
  } catch {
    return line.aborted ?? 'unreachable';
  }
}

function hungUp(line: Line, reason: HubFailure): Listened {
  line.close();
  return { kind: 'failed', reason };
}

async function* listened(first: IteratorResult<Piece>, rest: AsyncGenerator<Piece>, line: Line): AsyncGenerator<Piece> {
  try {
    if (!first.done) yield first.value;
    yield* rest;
  } finally {
    line.close();
  }
}

/** How long a hub is listened to, counted from the question; what ends it before is named. */
class Line {
  aborted: HubFailure | null = null;
  readonly #controller = new AbortController();
  readonly #first: NodeJS.Timeout;
  readonly #last: NodeJS.Timeout;

  constructor({ timeout_ms, stream_ms_max }: StreamQuestion) {
    this.#first = setTimeout(() => this.abort('timeout'), timeout_ms);
    this.#last = setTimeout(() => this.abort('timeout'), stream_ms_max);
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
  }
}
