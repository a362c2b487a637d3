import { z } from 'zod';
import { limits } from '../../../../schema/limits.ts';
import { wellFormedText } from '../../../../schema/requests/parse.ts';
import { type CallPiece, type Channel, channelOf, type Piece } from '../../../piece.ts';
import { type AssistantMessage, messageOf, Usage } from './chat.ts';

const Name = wellFormedText.max(limits.tool_call_id_chars_max);

/** Some hubs say all of a call at once, and leave out which one of several it is. */
const CallDelta = z.object({
  index: z
    .int()
    .min(0)
    .max(limits.tool_calls_max - 1)
    .nullish(),
  id: Name.nullish(),
  function: z.object({ name: Name.nullish(), arguments: z.string().nullish() }).nullish(),
});
export type CallDelta = z.output<typeof CallDelta>;

const Delta = z.object({
  content: z.string().nullish(),
  refusal: z.string().nullish(),
  tool_calls: z.array(CallDelta).max(limits.tool_calls_max).nullish(),
});
export type Delta = z.output<typeof Delta>;

export function bytesIn({ content, refusal, tool_calls }: Delta): number {
  const calls = (tool_calls ?? []).flatMap(({ id, function: called }) => [id, called?.name, called?.arguments]);
  return [content, refusal, ...calls].reduce((sum: number, text) => sum + Buffer.byteLength(text ?? ''), 0);
}

/** As much of an OpenAI chunk as is passed on. One answer is asked for, so there is one choice; some chunks have none. */
const HubChunk = z.object({
  choices: z
    .array(
      z.object({
        index: z.literal(0).default(0),
        delta: Delta.nullish(),
        finish_reason: wellFormedText.max(64).nullish(),
      }),
    )
    .max(1),
  usage: Usage.nullish(),
  /** Hubs that fail in the midst of a stream say so in it: that is not a chunk. */
  error: z.null().optional(),
});

export type ChunkReading =
  | {
      readonly kind: 'chunk';
      /** Null where it says nothing of the answer. */
      readonly delta: Delta | null;
      readonly finish_reason: string | null;
      readonly usage: Usage | null;
    }
  | { readonly kind: 'not_json' }
  | { readonly kind: 'not_a_chunk' };

/** A hub is not trusted: each event is parsed, checked and copied member by member. */
export function readChunk(data: string): ChunkReading {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return { kind: 'not_json' };
  }
  const parsed = HubChunk.safeParse(value);
  if (!parsed.success) return { kind: 'not_a_chunk' };
  const { choices, usage } = parsed.data;
  const [choice] = choices;
  return {
    kind: 'chunk',
    delta: choice ? (choice.delta ?? {}) : null,
    finish_reason: choice?.finish_reason ?? null,
    usage: usage ?? null,
  };
}

/** Text that comes in pieces: a surrogate pair may be cut in two, and its first half waits for the other. */
class Text {
  whole = '';
  #half = '';

  take(piece: string): string {
    const text = this.#half + piece;
    this.#half = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : '';
    const whole = text.slice(0, text.length - this.#half.length).toWellFormed();
    this.whole += whole;
    return whole;
  }
}

interface StreamedCall {
  /** Which of them it is here: from 0, in the order in which they began. */
  readonly call: number;
  readonly id: string;
  readonly name: string;
  readonly given: Text;
}

/** A message while it streams: what each chunk adds to it, and what they add up to. */
export class StreamedMessage {
  /** What it is made of, in the order in which each of it began. */
  readonly began: Channel[] = [];
  readonly #content = new Text();
  readonly #refusal = new Text();
  /** By the index that the hub gives them. */
  readonly #calls = new Map<number, StreamedCall>();

  /** Whether every call that it adds to was begun before, with an id and a name, or is begun by it. */
  fits({ tool_calls }: Delta): boolean {
    return (tool_calls ?? []).every(
      ({ index, id, function: called }, position) => this.#calls.has(index ?? position) || (id && called?.name),
    );
  }

  /** What goes on of a delta that fits, in pieces of which none is empty. */
  take({ content, refusal, tool_calls }: Delta): readonly Piece[] {
    const pieces: Piece[] = [];
    const text = this.#content.take(content ?? '');
    if (text !== '') pieces.push(text);
    const refused = this.#refusal.take(refusal ?? '');
    if (refused !== '') pieces.push({ refusal: refused });
    for (const [position, delta] of (tool_calls ?? []).entries()) {
      const piece = this.#call(delta.index ?? position, delta);
      if (piece.id !== null || piece.arguments !== '') pieces.push(piece);
    }
    for (const channel of pieces.map(channelOf)) if (!this.began.includes(channel)) this.began.push(channel);
    return pieces;
  }

  get message(): AssistantMessage {
    const calls = [...this.#calls.values()].map(({ id, name, given }) => ({
      id,
      type: 'function' as const,
      function: { name, arguments: given.whole },
    }));
    const refusal = this.#refusal.whole;
    const content = this.#content.whole;
    return messageOf(content === '' && (calls.length > 0 || refusal !== '') ? null : content, calls, refusal);
  }

  #call(index: number, { id, function: called }: CallDelta): CallPiece {
    const begun = this.#calls.get(index);
    const given = called?.arguments ?? '';
    if (begun) return { call: begun.call, id: null, name: null, arguments: begun.given.take(given) };
    const call = { call: this.#calls.size, id: id ?? '', name: called?.name ?? '', given: new Text() };
    this.#calls.set(index, call);
    return { call: call.call, id: call.id, name: call.name, arguments: call.given.take(given) };
  }
}
