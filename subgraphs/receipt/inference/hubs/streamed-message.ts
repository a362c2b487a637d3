import { z } from 'zod';
import { limits } from '../../../../schema/limits.ts';
import { wellFormedText } from '../../../../schema/requests/text.ts';
import { type BlockTextPiece, type CallPiece, type Channel, channelOf, type Piece } from '../../../piece.ts';
import type { HubBlock } from './anthropic.ts';
import { AnsweredUsage, type AssistantMessage, HubFinish, isAnswer, messageOf, noError, type Usage } from './chat.ts';
import type { HubFinishReason } from './finish-reason.ts';
import { bytesOfReasoning, reasoningMembers, StreamedReasoning } from './reasoning.ts';
import { SplitText } from './split-text.ts';

const Name = wellFormedText.max(limits.tool_call_id_chars_max);

/** A delta of a tool call. Some hubs send a whole call at once, and omit the index of the call. */
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
  /** Index of the block of the answer to which the delta adds, if the hub sends blocks. */
  svc_block: z.int().min(0).nullish(),
  ...reasoningMembers,
});
export type Delta = z.output<typeof Delta>;

export function bytesIn({ content, refusal, tool_calls, ...reasoning }: Delta): number {
  const calls = (tool_calls ?? []).flatMap(({ id, function: called }) => [id, called?.name, called?.arguments]);
  const texts = [content, refusal, ...calls];
  return texts.reduce((sum: number, text) => sum + Buffer.byteLength(text ?? ''), bytesOfReasoning(reasoning));
}

/** The part of an OpenAI chunk that is passed on. Only one answer is requested, so a chunk has at most one choice. */
const HubChunk = z.object({
  choices: z
    .array(
      z.object({
        index: z.literal(0).nullish(),
        delta: Delta.nullish(),
        finish_reason: HubFinish,
      }),
    )
    .max(1),
  usage: AnsweredUsage,
  /** Any text. It is checked before it is shown. */
  model: z.string().nullish().catch(null),
  error: noError,
});

export type ChunkReading =
  | {
      readonly kind: 'chunk';
      /** Null if the chunk has no choice. */
      readonly delta: Delta | null;
      readonly finish_reason: string | null;
      readonly usage: Usage | null;
      /** Model that the hub names. Null if it names none. */
      readonly model: string | null;
    }
  | { readonly kind: 'not_json' }
  | { readonly kind: 'not_a_chunk' };

/** Reads the data of one event. Hubs are not trusted, so the event is checked and copied member by member. */
export function readChunk(data: string): ChunkReading {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return { kind: 'not_json' };
  }
  const parsed = HubChunk.safeParse(value);
  if (!parsed.success) return { kind: 'not_a_chunk' };
  const { choices, usage, model } = parsed.data;
  const [choice] = choices;
  return {
    kind: 'chunk',
    delta: choice ? (choice.delta ?? {}) : null,
    finish_reason: choice?.finish_reason ?? null,
    usage: usage ?? null,
    model: model || null,
  };
}

interface StreamedCall {
  /** Index of the call in the answer, from 0, in the order in which calls began. */
  readonly call: number;
  readonly id: string;
  readonly name: string;
  readonly given: SplitText;
}

/** Collects a message while it streams, and returns what each delta adds. */
export class StreamedMessage {
  /** Channels of the message, in the order in which they began. */
  readonly began: Channel[] = [];
  readonly #content = new SplitText();
  readonly #refusal = new SplitText();
  readonly #reasoning = new StreamedReasoning();
  /** Whether the hub has sent a text, even an empty one. */
  #has_content = false;
  /** Calls by the index that the hub gives them. */
  readonly #calls = new Map<number, StreamedCall>();
  readonly #in_blocks: boolean;
  /** Texts by the index of their block. */
  readonly #texts = new Map<number, SplitText>();
  /** The first piece of each channel. */
  readonly #first: Piece[] = [];

  constructor(in_blocks = false) {
    this.#in_blocks = in_blocks;
  }

  /** Whether each call in a delta has begun before, or begins in this delta with an id and a name. */
  fits({ tool_calls }: Delta): boolean {
    return (tool_calls ?? []).every(
      ({ index, id, function: called }, position) => this.#calls.has(index ?? position) || (id && called?.name),
    );
  }

  /** Adds a delta that fits, and returns the part of it that is passed on, as non-empty pieces. */
  take({ content, refusal, tool_calls, svc_block, ...thought }: Delta): readonly Piece[] {
    const pieces: Piece[] = [];
    const block = this.#in_blocks ? (svc_block ?? null) : null;
    const reasoning = this.#reasoning.take(thought);
    if (reasoning !== null) pieces.push(block === null ? reasoning : { ...reasoning, block });
    this.#has_content ||= typeof content === 'string';
    const text = this.#text(content ?? '', block);
    if (text !== null) pieces.push(text);
    const refused = this.#refusal.take(refusal ?? '');
    if (refused !== '') pieces.push({ refusal: refused });
    for (const [position, delta] of (tool_calls ?? []).entries()) {
      const piece = this.#call(delta.index ?? position, delta);
      if (piece.id !== null || piece.arguments !== '') pieces.push(piece);
    }
    for (const piece of pieces) this.#begin(piece);
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
    const reasoning = this.#reasoning.whole;
    const says_more = calls.length > 0 || refusal !== '' || Object.keys(reasoning).length > 0;
    return messageOf({ content: content === '' && says_more ? null : content, calls, refusal, reasoning });
  }

  /** Blocks in the order in which they began. Null if the hub sends none. */
  get blocks(): readonly HubBlock[] | null {
    return this.#in_blocks ? this.#first.flatMap(piece => this.#blockOf(piece) ?? []) : null;
  }

  #blockOf(first: Piece): HubBlock | null {
    if (typeof first === 'string' || 'refusal' in first) return null;
    if ('call' in first) return { call: first.call };
    if ('reasoning' in first) return first.block === undefined ? null : { thought: first.block };
    return { text: this.#texts.get(first.block)?.whole ?? '' };
  }

  /** Adds text, and returns it as a piece. Null if no text can be passed on yet. */
  #text(content: string, block: number | null): string | BlockTextPiece | null {
    const text = this.#content.take(content);
    if (block === null) return text === '' ? null : text;
    const own = this.#texts.get(block) ?? new SplitText();
    this.#texts.set(block, own);
    const said = own.take(content);
    return said === '' ? null : { text: said, block };
  }

  /** Text of the reasoning, without the repetitions in other members. */
  get reasoning_text(): string {
    return this.#reasoning.text;
  }

  /** Whether the message is an answer with this finish reason, by the rule for whole answers. */
  isAnswer(finish_reason: HubFinishReason): boolean {
    return isAnswer({ ...this.message, content: this.#has_content ? this.#content.whole : null }, finish_reason);
  }

  /**
   * Records that the channel of a piece has begun. Reasoning begins with its first text: encrypted details have no place in the order of
   * events, unless they are a block themselves.
   */
  #begin(piece: Piece): void {
    const channel = channelOf(piece);
    const shown =
      typeof piece === 'string' || !('reasoning' in piece) || piece.text !== '' || piece.block !== undefined;
    if (!shown || this.began.includes(channel)) return;
    this.began.push(channel);
    this.#first.push(piece);
  }

  #call(index: number, { id, function: called }: CallDelta): CallPiece {
    const begun = this.#calls.get(index);
    const given = called?.arguments ?? '';
    if (begun) return { call: begun.call, id: null, name: null, arguments: begun.given.take(given) };
    const call = { call: this.#calls.size, id: id ?? '', name: called?.name ?? '', given: new SplitText() };
    this.#calls.set(index, call);
    return { call: call.call, id: call.id, name: call.name, arguments: call.given.take(given) };
  }
}
