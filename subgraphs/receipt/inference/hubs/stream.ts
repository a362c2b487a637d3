import { type Dispatcher, errors, type Pool } from 'undici';
import { type BrokenOff, WHOLE } from '../../../answer-end.ts';
import type { Channel, Piece } from '../../../piece.ts';
import type { HubBlock } from './anthropic.ts';
import { type AskFailure, askFailure, type HubFailure, type Post, readRefusal } from './ask.ts';
import type { AssistantMessage, Usage } from './chat.ts';
import { type Discretion, discreetMessage, discreetUsage } from './discretion.ts';
import { eventsIn, OverlongEvent } from './events.ts';
import { finishReasonOf, type HubFinishReason } from './finish-reason.ts';
import { bytesIn, readChunk, StreamedMessage } from './streamed-message.ts';
import { type VerdictRules, verdictInStream } from './verdict.ts';

/** A hub's streamed answer, as far as it was received. */
export interface StreamedReply {
  readonly message: AssistantMessage;
  /** Text of the reasoning, without the repetitions in the members of the message. */
  readonly reasoning_text: string;
  /** Channels of the message, in the order in which they began. */
  readonly began: readonly Channel[];
  /** Blocks in which the hub sent the message. Null if the hub's dialect has none. */
  readonly blocks: readonly HubBlock[] | null;
  /** Null if the hub named none. */
  readonly finish_reason: HubFinishReason | null;
  readonly usage: Usage | null;
  /** Model that the hub names. Null if it names none. */
  readonly answered_model: string | null;
  /** How the answer ended. It counts as whole as long as it has not broken off. */
  readonly end: ReplyEnd;
}

export interface ReplyBounds {
  readonly text_bytes_max: number;
  readonly event_chars_max: number;
}

const DONE = '[DONE]';
/** Maximum number of bytes after the last event that are read and ignored, so that the connection can be used again. */
const TRAILER_BYTES_MAX = 16 * 1024;

type Body = Dispatcher.ResponseData['body'];

/**
 * One hub's streamed answer. It is whole if the hub has named a finish reason and the message is an answer by the rule for whole answers.
 * Anything else breaks the answer off (`[DONE]` without a reason, a cut connection, a bound exceeded, an event that is not a chunk), and
 * the part received until then is kept.
 */
class ReplyStream {
  readonly #bounds: ReplyBounds;
  /** Returns why reading was aborted. Null if it was not. */
  readonly #aborted: () => HubFailure | null;
  readonly #chunks: (event: string) => readonly string[];
  readonly #discretion: Discretion;
  readonly #rules: BreakRules;
  readonly #message: StreamedMessage;
  #bytes = 0;
  #finish_reason: HubFinishReason | null = null;
  #usage: Usage | null = null;
  #answered_model: string | null = null;
  #done = false;
  #end: ReplyEnd = WHOLE;
  readonly #wholly = Promise.withResolvers<void>();
  /** Resolves as soon as the answer is complete, though the hub may still send usage. */
  readonly whole = this.#wholly.promise;

  constructor(
    question: ReplyBounds & Pick<StreamQuestion, 'chunks' | 'in_blocks' | 'discretion' | 'rules'>,
    aborted: () => HubFailure | null,
  ) {
    this.#bounds = question;
    this.#chunks = question.chunks ?? (event => [event]);
    this.#message = new StreamedMessage(question.in_blocks);
    this.#aborted = aborted;
    this.#discretion = question.discretion;
    this.#rules = question.rules;
  }

  get reply(): StreamedReply {
    return {
      message: this.#message.message,
      reasoning_text: this.#message.reasoning_text,
      began: this.#message.began,
      blocks: this.#message.blocks,
      finish_reason: this.#finish_reason,
      usage: this.#usage,
      answered_model: this.#answered_model,
      end: this.#end,
    };
  }

  /** Yields the answer piece by piece. Never throws. The hub's connection is read only as fast as the pieces are consumed. */
  async *pieces(body: Body): AsyncGenerator<Piece> {
    try {
      const events = eventsIn(body.iterator({ destroyOnReturn: false }), this.#bounds.event_chars_max);
      speech: for await (const event of events) {
        for (const data of this.#chunks(event)) {
          this.#done = data === DONE;
          const pieces = this.#done ? null : this.#take(data);
          if (pieces === null) break speech;
          yield* pieces;
        }
      }
      this.#breakOff(this.#finish_reason === null ? 'cut_off' : 'not_a_completion');
    } catch (error) {
      const aborted = this.#aborted();
      const reason = aborted ?? failureOf(error);
      this.#breakOff(reason, { at_limit: aborted === 'timeout' || reason === 'too_large' });
    } finally {
      if (this.#done) void body.dump({ limit: TRAILER_BYTES_MAX }).catch(() => {});
      else body.destroy();
    }
  }

  get #is_whole(): boolean {
    return this.#finish_reason !== null && this.#message.isAnswer(this.#finish_reason);
  }

  /** Pieces that one event adds. Null if the answer ends with it. */
  #take(data: string): readonly Piece[] | null {
    const reading = readChunk(data);
    if (reading.kind !== 'chunk') return this.#breakOff(reading.kind, { event: data });
    const { usage, model } = reading;
    const finish_reason = finishReasonOf(reading.finish_reason);
    const delta = discreetMessage(reading.delta ?? {}, this.#discretion);
    // An event is kept whole, or none of it is kept.
    if (delta === null || !this.#message.fits(delta)) return this.#breakOff('not_a_chunk');
    this.#bytes += bytesIn(delta);
    if (this.#bytes > this.#bounds.text_bytes_max) return this.#breakOff('too_large', { at_limit: true });
    if (finish_reason === 'broke_off') return this.#breakOff('not_a_completion', { event: data });
    this.#finish_reason = finish_reason ?? this.#finish_reason;
    if (usage !== null) this.#usage = discreetUsage(usage, this.#discretion.tells);
    this.#answered_model ??= model;
    const pieces = this.#message.take(delta);
    if (this.#is_whole) this.#wholly.resolve();
    return pieces;
  }

  /** Records why the answer broke off. A failure after the answer was complete changes nothing. */
  #breakOff(reason: HubFailure, facts: BreakFacts = {}): null {
    if (!this.#is_whole && this.#end.kind === 'whole') this.#end = brokenReply(reason, facts, this.#rules);
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

/** A request whose answer is passed on while it is received. */
export interface StreamQuestion extends Omit<Post, 'answer_bytes_max'>, ReplyBounds {
  /** Time limit for the first piece. */
  readonly timeout_ms: number;
  /** Time limit for the last piece. */
  readonly stream_ms_max: number;
  /** Time limit between two pieces while the answer is read. */
  readonly stream_idle_ms_max: number;
  /** Translates the data of an event to the data of chunks. Absent if each event is a chunk. */
  readonly chunks?: (event: string) => readonly string[];
  /** Whether a translated chunk names the block of the answer to which it adds. */
  readonly in_blocks?: boolean;
  readonly discretion: Discretion;
  readonly rules: BreakRules;
}

/** An answer that has begun: its first piece was received, or it ended without a piece and is an answer by its finish reason. */
export interface OpenReply {
  /** All pieces, from the first one on. Never throws. */
  readonly pieces: AsyncIterable<Piece>;
  reply(): StreamedReply;
  cancel(): void;
}

export type OpenOutcome = { readonly kind: 'answered'; readonly listening: OpenReply } | AskFailure;

/** Calls one hub once, and waits for the first piece. Never throws, so that the next hub can be tried until then. */
export async function openReply(pool: Pool, question: StreamQuestion): Promise<OpenOutcome> {
  const deadlines = new StreamDeadlines(question);
  const body = await openBody(pool, question, deadlines);
  if ('kind' in body) return hungUp(deadlines, body);
  const stream = new ReplyStream(question, () => deadlines.aborted);
  const pieces = stream.pieces(body);
  const first = pieces.next();
  const begun = await Promise.race([first, stream.whole]);
  const { end } = stream.reply;
  if (begun?.done && end.kind === 'broke_off') return hungUp(deadlines, askFailure(end.reason));
  deadlines.noteFirstEvent();
  return {
    kind: 'answered',
    listening: {
      pieces: deliveredPieces(first, pieces, deadlines),
      reply: () => stream.reply,
      cancel: () => deadlines.abort('cancelled'),
    },
  };
}

async function openBody(
  pool: Pool,
  { path, headers, body, stream_idle_ms_max: bodyTimeout }: StreamQuestion,
  deadlines: StreamDeadlines,
): Promise<Body | AskFailure> {
  try {
    const response = await pool.request({ method: 'POST', path, headers, body, bodyTimeout, signal: deadlines.signal });
    // A body that is destroyed before it is read emits an error event, which would end the process if nothing handled it.
    response.body.on('error', () => {});
    return response.statusCode === 200 ? response.body : await readRefusal(response);
  } catch {
    return askFailure(deadlines.aborted ?? 'unreachable');
  }
}

function hungUp(deadlines: StreamDeadlines, outcome: AskFailure): OpenOutcome {
  deadlines.close();
  return outcome;
}

async function* deliveredPieces(
  begun: Promise<IteratorResult<Piece>>,
  rest: AsyncGenerator<Piece>,
  deadlines: StreamDeadlines,
): AsyncGenerator<Piece> {
  try {
    const first = await begun;
    if (!first.done) yield first.value;
    yield* rest;
  } finally {
    deadlines.close();
  }
}

/** Time limits of one stream, counted from its request. `aborted` is the reason if the stream was ended early, otherwise null. */
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

  noteFirstEvent(): void {
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

/** How a hub's answer ended. The `reason` of an answer that broke off counts in the health of the hub. */
type ReplyEnd = typeof WHOLE | BrokenReply;

interface BrokenReply extends BrokenOff {
  readonly reason: HubFailure;
}

/** Facts about a break besides its reason. */
interface BreakFacts {
  /** Whether the answer reached a limit of this service. */
  readonly at_limit?: boolean;
  /** Data of the event that came in place of a chunk. Null if there was none. */
  readonly event?: string | null;
}

/** Rules for the verdict on an error in the middle of an answer. */
type BreakRules = Omit<VerdictRules, 'now_ms'>;

/** End of an answer that broke off, with its cause. Pure. */
function brokenReply(
  reason: HubFailure,
  { at_limit = false, event = null }: BreakFacts,
  rules: BreakRules,
): BrokenReply {
  const broken = { kind: 'broke_off', reason, hub_error: null } as const;
  if (reason === 'cancelled') return { ...broken, by: 'stop' };
  if (at_limit) return { ...broken, by: 'limit' };
  if (event === null) return { ...broken, by: 'hub' };
  const { by_request, error } = verdictInStream(event, rules);
  return { ...broken, by: by_request ? 'request' : 'hub', hub_error: error };
}
