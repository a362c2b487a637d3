import { isJsonObject, type Json, type JsonObject } from '../../../../schema/canonical-json.ts';
import { besideKnown } from '../../../../schema/requests/forwarded/extra.ts';
import type { UnknownMember } from '../../../../schema/requests/forwarded/known-members.ts';
import {
  blockMembers,
  type MessageBlock,
  markMembers,
  sourceMembers,
  turnMembers,
} from '../../../../schema/requests/message-blocks.ts';
import { knownMembers, type MessagesRequest } from '../../../../schema/requests/messages.ts';

/*
 * The members of a message that this service does not know, by name and place. A hub of Anthropic's dialect is sent them where they stood;
 * any other where the chat that the message comes to has a place for them.
 */

export interface UnknownInMessage extends UnknownMember {
  /** Whether it has a place in a chat. */
  readonly in_chat: boolean;
}

type Path = readonly (string | number)[];
/** Members that the chat's own object has, in whose place no other can stand; null where an object has no place in a chat. */
type Taken = readonly string[] | null;

const NOWHERE = null;
const FUNCTION: Taken = ['function'];
const MESSAGE: Taken = ['role', 'tool_calls', 'tool_call_id', 'reasoning_content', 'reasoning_details'];
const NONE: ReadonlySet<string> = new Set();

/** By the kind of a block: what takes its place in a chat. */
const blockPlaces: Readonly<Record<string, (block: MessageBlock) => Taken>> = {
  text: () => [],
  image: () => ['image_url'],
  document: ({ source }) => documentPlaces[String((source as JsonObject).type)]?.block ?? NOWHERE,
  search_result: () => ['text'],
  tool_use: () => FUNCTION,
  tool_result: () => MESSAGE,
  thinking: ({ signature }) => (signature === '' ? NOWHERE : ['text']),
  redacted_thinking: () => [],
};

/** A document that is made of blocks is nothing but these in a chat. */
const documentPlaces: Readonly<Record<string, { readonly block: Taken; readonly source: Taken }>> = {
  text: { block: ['text'], source: NOWHERE },
  base64: { block: ['file'], source: ['file_data', 'filename'] },
};

const found = new WeakMap<MessagesRequest, readonly UnknownInMessage[]>();

/** Every one of a request, each once for each place in which it stands. */
export function unknownInMessage(request: MessagesRequest): readonly UnknownInMessage[] {
  const unknown = found.get(request) ?? [...inRequest(request)];
  found.set(request, unknown);
  return unknown;
}

function* inRequest(request: MessagesRequest): Generator<UnknownInMessage> {
  const { extra = {}, system = [], messages, tools = [], tool_choice, thinking, output_config } = request;
  yield* named(extra, NONE, [], []);
  yield* inMark(request.cache_control, []);
  yield* inBlocks(system, ['system']);
  for (const [index, turn] of messages.entries()) {
    const at = ['messages', index];
    yield* named(turn, turnMembers, at, MESSAGE);
    yield* inBlocks(turn.content, [...at, 'content']);
  }
  for (const [index, tool] of tools.entries()) {
    yield* named(tool, knownMembers.tool, ['tools', index], FUNCTION);
    yield* inMark(tool.cache_control, ['tools', index]);
  }
  if (tool_choice) {
    const { type } = tool_choice;
    yield* named(tool_choice, knownMembers.choices[type], ['tool_choice'], type === 'tool' ? FUNCTION : NOWHERE);
  }
  if (thinking) yield* named(thinking, knownMembers.thinking[thinking.type], ['thinking'], NOWHERE);
  if (!output_config) return;
  yield* named(output_config, knownMembers.output_config, ['output_config'], NOWHERE);
  const { format } = output_config;
  if (format) yield* named(format, knownMembers.format, ['output_config', 'format'], []);
}

/** `is_merged`: they are one text in a chat. */
function* inBlocks(content: Json | undefined, path: Path, is_merged = false): Generator<UnknownInMessage> {
  for (const [index, block] of (Array.isArray(content) ? (content as MessageBlock[]) : []).entries()) {
    const at = [...path, index];
    const { type } = block;
    const taken = is_merged ? NOWHERE : (blockPlaces[type]?.(block) ?? NOWHERE);
    yield* named(block, blockMembers[type] ?? NONE, at, taken);
    yield* inMark(block.cache_control, at);
    yield* inBlocks(block.content, [...at, 'content'], type === 'search_result');
    if (isJsonObject(block.source)) yield* inSource(block.source, type, [...at, 'source']);
  }
}

function* inSource(source: JsonObject, of: string, at: Path): Generator<UnknownInMessage> {
  const type = String(source.type);
  const taken = of === 'image' ? ['url'] : (documentPlaces[type]?.source ?? NOWHERE);
  yield* named(source, sourceMembers[type] ?? NONE, at, taken);
  yield* inBlocks(source.content, [...at, 'content']);
}

/** A chat has no cache markers. */
function* inMark(mark: Json | undefined, path: Path): Generator<UnknownInMessage> {
  if (isJsonObject(mark)) yield* named(mark, markMembers, [...path, 'cache_control'], NOWHERE);
}

function* named(object: JsonObject, known: ReadonlySet<string>, at: Path, taken: Taken): Generator<UnknownInMessage> {
  for (const name of Object.keys(besideKnown(object, known)))
    yield { name, at: [...at, name].join('.'), in_chat: taken !== null && !taken.includes(name) };
}
