import { isJsonObject, type Json, type JsonObject } from '../../../../schema/canonical-json.ts';
import { schemaPlace } from '../../../../schema/requests/chat-completion.ts';
import { callPlace, messagePlace, toolPlace } from '../../../../schema/requests/chat-message.ts';
import { filePlace, imagePlace, partPlaces } from '../../../../schema/requests/content.ts';
import { foldName, membersExcept, type OpenPlace } from '../../../../schema/requests/forwarded/extra.ts';
import { openPlace } from '../../../../schema/requests/forwarded/foreign-members.ts';
import type { UnknownMember } from '../../../../schema/requests/forwarded/known-members.ts';
import {
  blockMembers,
  type MessageBlock,
  type MessageTurn,
  markMembers,
  sourceMembers,
  turnMembers,
} from '../../../../schema/requests/message-blocks.ts';
import { knownMembers, type MessagesRequest } from '../../../../schema/requests/messages.ts';

/*
 * The members of a message that this service does not know, by name and place. A hub of Anthropic's dialect receives them in the same
 * place; any other hub if the chat to which the message is translated has a place for them.
 */

export interface UnknownInMessage extends UnknownMember {
  /** Whether it has a place in a chat. */
  readonly in_chat: boolean;
}

type Path = readonly (string | number)[];
/** The object of a chat to which it is moved; null if it has none. A name that the chat's object knows, or nearly, has no place there. */
type Place = OpenPlace | null;

const NOWHERE = null;
/** An entry of `reasoning_details`, which a chat passes on as it is. */
const thoughtPlace = openPlace(['type', 'text', 'signature', 'data']);
const NONE: ReadonlySet<string> = new Set();

/** By the kind of a block: what takes its place in a chat. */
const blockPlaces: Readonly<Record<string, (block: MessageBlock) => Place>> = {
  text: () => partPlaces.text,
  image: () => partPlaces.image_url,
  document: ({ source }) => documentPlaces[String((source as JsonObject).type)]?.block ?? NOWHERE,
  search_result: () => partPlaces.text,
  tool_use: () => callPlace,
  tool_result: () => messagePlace,
  thinking: () => thoughtPlace,
  redacted_thinking: () => thoughtPlace,
};

/** A document that is made of blocks is nothing but these in a chat. */
const documentPlaces: Readonly<Record<string, { readonly block: Place; readonly source: Place }>> = {
  text: { block: partPlaces.text, source: NOWHERE },
  base64: { block: partPlaces.file, source: filePlace },
};

const found = new WeakMap<MessagesRequest, readonly UnknownInMessage[]>();

/** Every unknown member of a request, once for each place in which it occurs. */
export function unknownInMessage(request: MessagesRequest): readonly UnknownInMessage[] {
  const unknown = found.get(request) ?? [...inRequest(request)];
  found.set(request, unknown);
  return unknown;
}

function* inRequest(request: MessagesRequest): Generator<UnknownInMessage> {
  const { extra = {}, system = [], messages, tools = [], tool_choice, thinking, output_config } = request;
  for (const name of Object.keys(extra)) yield { name, at: name, in_chat: true };
  yield* inMark(request.cache_control, []);
  yield* inBlocks(system, ['system']);
  for (const [index, turn] of messages.entries()) {
    const at = ['messages', index];
    yield* unknownMembersOf(turn, turnMembers, at, messagePlace, namesInResults(turn));
    yield* inBlocks(turn.content, [...at, 'content']);
  }
  for (const [index, tool] of tools.entries()) {
    yield* unknownMembersOf(tool, knownMembers.tool, ['tools', index], toolPlace);
    yield* inMark(tool.cache_control, ['tools', index]);
  }
  if (tool_choice) {
    const { type } = tool_choice;
    yield* unknownMembersOf(
      tool_choice,
      knownMembers.choices[type],
      ['tool_choice'],
      type === 'tool' ? toolPlace : NOWHERE,
    );
  }
  if (thinking) yield* unknownMembersOf(thinking, knownMembers.thinking[thinking.type], ['thinking'], NOWHERE);
  if (!output_config) return;
  yield* unknownMembersOf(output_config, knownMembers.output_config, ['output_config'], NOWHERE);
  const { format } = output_config;
  if (format) yield* unknownMembersOf(format, knownMembers.format, ['output_config', 'format'], schemaPlace);
}

/** `is_merged`: they are one text in a chat. */
function* inBlocks(content: Json | undefined, path: Path, is_merged = false): Generator<UnknownInMessage> {
  for (const [index, block] of (Array.isArray(content) ? (content as MessageBlock[]) : []).entries()) {
    const at = [...path, index];
    const { type } = block;
    const place = is_merged ? NOWHERE : (blockPlaces[type]?.(block) ?? NOWHERE);
    yield* unknownMembersOf(block, blockMembers[type] ?? NONE, at, place);
    yield* inMark(block.cache_control, at);
    yield* inBlocks(block.content, [...at, 'content'], type === 'search_result');
    if (isJsonObject(block.source)) yield* inSource(block.source, type, [...at, 'source']);
  }
}

function* inSource(source: JsonObject, of: string, at: Path): Generator<UnknownInMessage> {
  const type = String(source.type);
  const place = of === 'image' ? imagePlace : (documentPlaces[type]?.source ?? NOWHERE);
  yield* unknownMembersOf(source, sourceMembers[type] ?? NONE, at, place);
  yield* inBlocks(source.content, [...at, 'content']);
}

/** A chat has no cache markers. */
function* inMark(mark: Json | undefined, path: Path): Generator<UnknownInMessage> {
  if (isJsonObject(mark)) yield* unknownMembersOf(mark, markMembers, [...path, 'cache_control'], NOWHERE);
}

/** A turn of results alone becomes their messages: the last of these cannot have two members of one name. */
function namesInResults({ content }: MessageTurn): ReadonlySet<string> {
  const results = content.filter(({ type }) => type === 'tool_result');
  return new Set(results.flatMap(result => Object.keys(membersExcept(result, blockMembers.tool_result ?? NONE))));
}

/** `taken`: names that its place in the chat already has. */
function* unknownMembersOf(
  object: JsonObject,
  known: ReadonlySet<string>,
  at: Path,
  place: Place,
  taken = NONE,
): Generator<UnknownInMessage> {
  for (const [name, value] of Object.entries(membersExcept(object, known)))
    yield { name, at: [...at, name].join('.'), in_chat: !taken.has(name) && fits(place, name, value) };
}

function fits(place: Place, name: string, value: Json): boolean {
  if (place === NOWHERE || place.known.has(name)) return false;
  return place.rule({ name, folded_name: foldName(name), value }).kind !== 'refused';
}
