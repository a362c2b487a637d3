import { isJsonObject, type Json, type JsonObject } from '../../../../schema/canonical-json.ts';
import { findExceededBound } from '../../../../schema/json-bounds.ts';
import { jsonFault } from '../../../../schema/json-value.ts';
import { INT_MAX } from '../../../../schema/limits.ts';
import { type Reasoning, reasoningText } from '../../../../schema/reasoning.ts';
import type { Channel, Piece } from '../../../piece.ts';
import type { HubBlock } from '../hubs/anthropic.ts';
import type { AssistantMessage, HubToolCall, Usage } from '../hubs/chat.ts';

/* Translates a hub's message to the blocks of Anthropic's Messages API. */

/** A block of an answer. It has the member names of the wire, because a receipt commits to the canonical JSON of the list of blocks. */
export type AnswerBlock =
  | { readonly type: 'text'; readonly text: string; readonly citations: null }
  | {
      readonly type: 'thinking';
      readonly thinking: string;
      /** Signature by which the model's provider recognises its thinking. Empty if the hub sends none. */
      readonly signature: string;
    }
  /** Reasoning that only the model's provider can read. */
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | {
      readonly type: 'tool_use';
      readonly id: string;
      readonly name: string;
      /** Arguments as an object. If the model did not write an object, its text unchanged. */
      readonly input: JsonObject | string;
      readonly caller: { readonly type: 'direct' };
    };

export type StopReason = 'end_turn' | 'max_tokens' | 'stop_sequence' | 'tool_use' | 'refusal';

/** Stop reason of the Messages API for each finish reason of a hub. For any other finish reason, `stopReasonOf` decides by the message. */
const stops: Readonly<Record<string, StopReason>> = {
  length: 'max_tokens',
  max_tokens: 'max_tokens',
  stop_sequence: 'stop_sequence',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
};

/** Stop reason of an answer. Some hubs send `stop` for an answer that calls tools or refuses, so the message is checked too. */
export function stopReasonOf(finish_reason: string | null, { tool_calls, refusal }: AssistantMessage): StopReason {
  const said = stops[finish_reason ?? ''];
  if (said !== undefined) return said;
  if (tool_calls !== undefined) return 'tool_use';
  return refusal === undefined ? 'end_turn' : 'refusal';
}

/** Details of a refusal, whose category and explanation are unknown. Null if the answer is not a refusal. */
export function stopDetailsOf(stop_reason: StopReason | null): JsonObject | null {
  return stop_reason === 'refusal' ? { type: 'refusal', category: null, explanation: null } : null;
}

const textBlock = (text: string): AnswerBlock => ({ type: 'text', text, citations: null });

/** Each kind of block, as it is before its first piece. */
export const blockBegun = {
  text: textBlock(''),
  thinking: { type: 'thinking', thinking: '', signature: '' },
  redacted: (data: string) => ({ type: 'redacted_thinking', data }),
  call: (id: string, name: string) => ({ type: 'tool_use', id, name, input: {}, caller: { type: 'direct' } }),
} as const satisfies Record<string, JsonObject | ((...given: string[]) => JsonObject)>;

/** The part of the reasoning that is shown to a caller. `signed`: only the signature or the encrypted data of a block, without its text. */
export type ShownThinking = 'whole' | 'signed' | 'hidden';

/** The part of the thinking to show, and how the hub sent the message. */
interface ContentOptions {
  readonly thinking: ShownThinking;
  /** Blocks in which the hub sent the message, in their order. Null if the hub's dialect has none. */
  readonly blocks?: readonly HubBlock[] | null;
  /** Channels of the message, in the order in which they began. Absent: thinking comes first, and text before calls. */
  readonly began?: readonly Channel[];
  /** Text of the reasoning of a stream. Absent: it is read from the message. */
  readonly reasoning_text?: string;
}

/**
 * Blocks of a message as the hub sent them. If the hub sent none, one block for each channel, in the order in which the channels began. A
 * refusal becomes a text block; the stop reason shows that it is a refusal.
 */
export function blocksOf(message: AssistantMessage, shown: ContentOptions): AnswerBlock[] {
  return shown.blocks ? blocksAsGiven(message, shown.blocks, shown.thinking) : blocksByChannel(message, shown);
}

/** Blocks as the hub sent them, without empty texts, without thinking that is not shown, and without thinking that has lost its data. */
function blocksAsGiven(
  { tool_calls = [], reasoning_details = [] }: AssistantMessage,
  blocks: readonly HubBlock[],
  shown: ShownThinking,
): AnswerBlock[] {
  const thoughts = new Map(reasoning_details.map(detail => [detail.index, detail]));
  return blocks.flatMap(block => {
    if ('text' in block) return block.text === '' ? [] : [textBlock(block.text)];
    if ('call' in block) return tool_calls.slice(block.call, block.call + 1).map(callBlock);
    const thought = thoughts.get(block.thought);
    return thought === undefined || shown === 'hidden' ? [] : thoughtBlock(thought, shown);
  });
}

function thoughtBlock({ type, text, signature, data }: JsonObject, shown: ShownThinking): AnswerBlock[] {
  if (type === 'reasoning.encrypted') return typeof data === 'string' ? [{ type: 'redacted_thinking', data }] : [];
  const known = typeof signature === 'string' ? signature : '';
  if (shown !== 'whole') return known === '' ? [] : [{ type: 'thinking', thinking: '', signature: known }];
  return [{ type: 'thinking', thinking: typeof text === 'string' ? text : '', signature: known }];
}

function callBlock({ id, function: { name, arguments: given } }: HubToolCall): AnswerBlock {
  return { type: 'tool_use', id, name, input: inputOf(given), caller: { type: 'direct' } };
}

function blocksByChannel(
  message: AssistantMessage,
  { thinking: shown, began = [], ...said }: ContentOptions,
): AnswerBlock[] {
  const { content, refusal, tool_calls = [] } = message;
  const { reasoning_text: thinking = reasoningText(message) } = said;
  const thought = { type: 'thinking', thinking, signature: signatureIn(message) ?? '' } as const;
  const blocks: (readonly [Channel, AnswerBlock])[] = [
    ...(shown === 'whole' && thinking !== '' ? [['reasoning', thought] as const] : []),
    ...(content ? [['text', textBlock(content)] as const] : []),
    ...(refusal === undefined ? [] : [['refusal', textBlock(refusal)] as const]),
    ...tool_calls.map((called, call) => [call, callBlock(called)] as const),
  ];
  const place = ([channel]: readonly [Channel, AnswerBlock]) => began.indexOf(channel);
  return blocks.sort((one, other) => place(one) - place(other)).map(([, block]) => block);
}

/** The last signature of the reasoning. Null if it has none. */
export function signatureIn({ reasoning_details = [] }: Reasoning): string | null {
  const signed = reasoning_details.findLast(
    ({ type, signature }) => type === 'reasoning.text' && typeof signature === 'string' && signature !== '',
  );
  return signed ? String(signed.signature) : null;
}

/**
 * Arguments of a call; an empty object if the model wrote none. The text is returned unchanged if it is not an object that can be signed.
 */
function inputOf(given: string): JsonObject | string {
  if (given.trim() === '') return {};
  if (findExceededBound(Buffer.from(given)) !== null) return given;
  try {
    const value: Json = JSON.parse(given);
    return isJsonObject(value) && jsonFault(value) === null ? value : given;
  } catch {
    return given;
  }
}

/** Pieces of a stream for stored blocks. Each piece becomes a separate block again. */
export function piecesOfBlocks(content: readonly AnswerBlock[]): Piece[] {
  let calls = 0;
  return content.map((block, at): Piece => {
    if (block.type === 'text') return { text: block.text, block: at };
    if (block.type === 'thinking') return thoughtPiece(block, at);
    if (block.type === 'redacted_thinking') {
      const detail = { type: 'reasoning.encrypted', data: block.data };
      return { reasoning: { reasoning_details: [detail] }, text: '', block: at };
    }
    const { id, name, input } = block;
    return { call: calls++, id, name, arguments: typeof input === 'string' ? input : JSON.stringify(input) };
  });
}

function thoughtPiece({ thinking: text, signature }: Extract<AnswerBlock, { type: 'thinking' }>, block: number): Piece {
  if (signature === '') return { reasoning: { reasoning_content: text }, text, block };
  return { reasoning: { reasoning_details: [{ type: 'reasoning.text', text, signature }] }, text, block };
}

/**
 * Token counts under Anthropic's names. A count that the hub did not send is null, except for input and output tokens, which are then 0.
 */
interface BlocksUsage {
  /** Tokens of the prompt, without those that were read from a cache or written to it. */
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens: number | null;
  readonly cache_creation_input_tokens: number | null;
  readonly output_tokens_details: { readonly thinking_tokens: number } | null;
}

const uncounted: Usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

export function blocksUsage(usage: Usage | null): BlocksUsage & JsonObject {
  const { prompt_tokens, completion_tokens, prompt_tokens_details, completion_tokens_details } = usage ?? uncounted;
  const read = countIn(prompt_tokens_details, 'cached_tokens');
  const written = countIn(prompt_tokens_details, 'cache_write_tokens');
  const thinking_tokens = countIn(completion_tokens_details, 'reasoning_tokens');
  return {
    input_tokens: Math.max(0, prompt_tokens - (read ?? 0) - (written ?? 0)),
    output_tokens: completion_tokens,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
    output_tokens_details: thinking_tokens === null ? null : { thinking_tokens },
  };
}

/** A count of tokens in the details of usage. Null if the value is not such a number, because hubs may send anything. */
function countIn(details: Usage[string] | undefined, name: string): number | null {
  const count = typeof details === 'object' && details !== null ? details[name] : null;
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= INT_MAX ? count : null;
}
