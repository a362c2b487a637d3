import { isJsonObject, type Json, type JsonObject } from '../../../../schema/canonical-json.ts';

/*
 * Hubs with Anthropic's Messages API. A message is sent to them as its caller wrote it. Their answers are translated to chat completions,
 * so that one set of schemas checks the answers of all hubs. A response that is not a message is not translated.
 */

export const MESSAGES_PATH = '/messages';

/** Version of the API. It supports every member that a caller may send. */
export const anthropicVersion = { 'anthropic-version': '2023-06-01' } as const;

/** Request to a hub of Anthropic's dialect, as the caller wrote it. */
export interface AnthropicRequest {
  readonly body: JsonObject;
  /** Names of the API's beta features; empty if the request names none. */
  readonly betas: readonly string[];
}

export function betaHeaders(betas: readonly string[]): Record<string, string> {
  return betas.length === 0 ? {} : { 'anthropic-beta': betas.join(',') };
}

/** Finish reason of a chat for each stop reason. Chats have none for `stop_sequence`, so that reason is not translated. */
const finishReasons: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

function finishReason(stop_reason: Json | undefined): Json {
  return typeof stop_reason === 'string' ? (finishReasons[stop_reason] ?? stop_reason) : null;
}

/** Translation of a whole block, by its type. A block of any other type makes the answer invalid. */
const wholeBlocks: Readonly<Record<string, (block: JsonObject, index: number) => BlockContent>> = {
  text: ({ text = null }) => ({ content: text }),
  tool_use: ({ id = null, name = null, input = null }, index) => ({
    tool_calls: [{ index, id, type: 'function', function: { name, arguments: JSON.stringify(input) } }],
  }),
  thinking: ({ thinking = null, signature = null }, index) => ({
    reasoning_details: [{ type: 'reasoning.text', index, text: thinking, signature }],
  }),
  // Encrypted thinking cannot be sent back without its data, so a block without data is dropped.
  redacted_thinking: ({ data }, index) =>
    typeof data === 'string' ? { reasoning_details: [{ type: 'reasoning.encrypted', index, data }] } : {},
};

interface BlockContent {
  readonly content?: Json;
  readonly tool_calls?: readonly JsonObject[];
  readonly reasoning_details?: readonly JsonObject[];
}

/**
 * Translated content of a block. Null if the type of the block is unknown, because the answer then contains something that was not
 * requested.
 */
function contentIn(block: Json, index: number): BlockContent | null {
  return isJsonObject(block) ? (wholeBlocks[String(block.type)]?.(block, index) ?? null) : null;
}

/** One block of an answer: its text, or its place in the message to which the answer is translated. */
export type HubBlock =
  | { readonly text: string }
  /** Value of `index` of the block's entry in `reasoning_details`. */
  | { readonly thought: number }
  /** Index of the block's call in `tool_calls`. */
  | { readonly call: number };

function blocksIn(content: readonly JsonObject[]): HubBlock[] {
  let calls = 0;
  return content.map(({ type, text }, index) => {
    if (type === 'text') return { text: String(text).toWellFormed() };
    return type === 'tool_use' ? { call: calls++ } : { thought: index };
  });
}

/**
 * A whole answer as a chat completion, and its blocks. A response that is not a message, or has a block of an unknown type, is returned
 * unchanged, with `blocks` null.
 */
export function asCompletion(bytes: Buffer): { readonly bytes: Buffer; readonly blocks: readonly HubBlock[] | null } {
  const message = jsonIn(bytes.toString('utf8'));
  if (!isJsonObject(message) || message.type !== 'message' || !Array.isArray(message.content))
    return { bytes, blocks: null };
  const said = message.content.map(contentIn);
  if (said.includes(null)) return { bytes, blocks: null };
  const texts = said.flatMap(one => (one?.content === undefined ? [] : [one.content]));
  const answer = {
    role: message.role ?? null,
    content: texts.length === 0 ? null : texts.every(text => typeof text === 'string') ? texts.join('') : texts,
    tool_calls: said.flatMap(one => one?.tool_calls ?? []),
    reasoning_details: said.flatMap(one => one?.reasoning_details ?? []),
  };
  const choices = [{ index: 0, message: answer, finish_reason: finishReason(message.stop_reason) }];
  const completion = { model: message.model ?? null, choices, usage: usageIn(message.usage) };
  return { bytes: Buffer.from(JSON.stringify(completion)), blocks: blocksIn(message.content as JsonObject[]) };
}

/**
 * Translated content of a block when it begins. A call with empty arguments begins with an empty text, because its arguments follow in
 * deltas.
 */
function begunIn(block: Json | undefined, index: number): BlockContent | null {
  const said = contentIn(block ?? null, index);
  const input = isJsonObject(block) && isJsonObject(block.input) ? block.input : {};
  if (!said?.tool_calls || Object.keys(input).length > 0) return said;
  const calls = said.tool_calls.map(call => ({
    ...call,
    function: { ...(call.function as JsonObject), arguments: '' },
  }));
  return { tool_calls: calls };
}

const deltas: Readonly<Record<string, (delta: JsonObject, index: number) => BlockContent>> = {
  text_delta: ({ text = null }) => ({ content: text }),
  input_json_delta: ({ partial_json = null }, index) => ({
    tool_calls: [{ index, function: { arguments: partial_json } }],
  }),
  thinking_delta: ({ thinking = null }, index) => ({
    reasoning_details: [{ type: 'reasoning.text', index, text: thinking }],
  }),
};

const signedBy = (signature: string, index: number): BlockContent => ({
  reasoning_details: [{ type: 'reasoning.text', index, signature }],
});

const NOTHING: JsonObject = { choices: [] };
/** Data that does not match the schema of a chunk, so that the answer breaks off. */
const FAULT: JsonObject = { error: 'not what was asked for' };

/** Index of the block to which an event adds: the first block if the event names none. */
const blockAt = (at: number) => Math.max(at, 0);

/** Chunk with the content of a block. `svc_block` is the index of that block in the answer, for which chats have no member. */
const chunkOf = (said: BlockContent | null, at: number): JsonObject =>
  said === null ? FAULT : { choices: [{ delta: { ...said, svc_block: blockAt(at) } as JsonObject }] };

/** Translates the events of one streamed answer to the chunks of a chat. */
export class AnthropicEvents {
  /** Usage so far. The hub states the tokens of the request at the beginning and those of the answer at the end. */
  #usage: JsonObject = {};
  /**
   * Signatures of the blocks that have not stopped, by block, as far as they were received. A signature is checked only as a whole, because
   * its pieces together may contain one of our keys.
   */
  readonly #signatures = new Map<number, string>();
  /**
   * Blocks whose signature was passed on. Further pieces of such a signature are refused, because they could not be checked together with
   * the earlier ones.
   */
  readonly #signed = new Set<number>();

  /** Translates the data of an event to the data of chunks. Data that is not JSON is returned unchanged. */
  chunks(data: string): readonly string[] {
    const event = jsonIn(data);
    if (event === undefined) return [data];
    if (!isJsonObject(event)) return [JSON.stringify(FAULT)];
    if (event.type === 'message_stop') return ['[DONE]'];
    // A hub may stop its blocks late. The earlier blocks are complete when the next one begins, so their signatures are sent before it.
    const before = event.type === 'content_block_start' ? [...this.#signatures.keys()] : [];
    return [...before.map(block => this.#stopped(block)), this.#read(event)].map(chunk => JSON.stringify(chunk));
  }

  #read({ type, message, index, content_block, delta, usage }: JsonObject): JsonObject {
    const at = typeof index === 'number' ? index : -1;
    switch (type) {
      case 'message_start':
        if (!isJsonObject(message)) return FAULT;
        this.#count(message.usage);
        return { ...NOTHING, model: message.model ?? null };
      case 'content_block_start':
        return this.#begun(content_block, at);
      case 'content_block_stop':
        return this.#stopped(at);
      case 'content_block_delta':
        if (isJsonObject(delta) && delta.type === 'signature_delta') return this.#sign(delta.signature, at);
        return chunkOf(isJsonObject(delta) ? (deltas[String(delta.type)]?.(delta, at) ?? {}) : null, at);
      case 'message_delta':
        if (!isJsonObject(delta)) return FAULT;
        this.#count(usage);
        return {
          choices: [{ delta: {}, finish_reason: finishReason(delta.stop_reason) }],
          usage: usageIn(this.#usage),
        };
      case 'error':
        return FAULT;
      // The API may add types of events without changing the existing ones, so an unknown type is ignored.
      default:
        return NOTHING;
    }
  }

  /** Chunk for the beginning of a block. A signature that the block begins with is held back, and passed on whole with its later pieces. */
  #begun(block: Json | undefined, at: number): JsonObject {
    if (!isJsonObject(block) || block.type !== 'thinking') return chunkOf(begunIn(block, at), at);
    const signed = this.#sign(block.signature, at);
    return signed === FAULT ? FAULT : chunkOf(begunIn({ ...block, signature: '' }, at), at);
  }

  #sign(piece: Json | undefined, at: number): JsonObject {
    if (typeof piece !== 'string' || piece === '') return NOTHING;
    const block = blockAt(at);
    if (this.#signed.has(block)) return FAULT;
    this.#signatures.set(block, (this.#signatures.get(block) ?? '') + piece);
    return NOTHING;
  }

  #stopped(at: number): JsonObject {
    const block = blockAt(at);
    const signature = this.#signatures.get(block);
    if (signature === undefined) return NOTHING;
    this.#signatures.delete(block);
    this.#signed.add(block);
    return chunkOf(signedBy(signature, at), at);
  }

  #count(usage: Json | undefined): void {
    const counted = isJsonObject(usage) ? Object.entries(usage).filter(([, count]) => count !== null) : [];
    this.#usage = { ...this.#usage, ...Object.fromEntries(counted) };
  }
}

/** Usage under the names of a chat. The tokens of the prompt include those that were read from a cache or written to it. */
function usageIn(usage: Json | undefined): JsonObject | null {
  if (!isJsonObject(usage)) return null;
  const { input_tokens = null, output_tokens = null, output_tokens_details } = usage;
  const { cache_read_input_tokens: read = null, cache_creation_input_tokens: written = null } = usage;
  const details = isJsonObject(output_tokens_details) ? output_tokens_details : {};
  const counted = [input_tokens, read, written].filter(count => typeof count === 'number');
  return {
    prompt_tokens: typeof input_tokens === 'number' ? counted.reduce((sum, count) => sum + count, 0) : null,
    completion_tokens: output_tokens,
    prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written },
    completion_tokens_details: { reasoning_tokens: details.thinking_tokens ?? null },
  };
}

function jsonIn(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
