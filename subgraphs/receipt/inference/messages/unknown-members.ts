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
 * Finds the members of a message that this service does not know, by name and place. A hub of Anthropic's dialect receives them in the same
 * place. Any other hub receives them only if the chat to which the message is translated has a place for them.
 */

export interface UnknownInMessage extends UnknownMember {
  /** Whether the member has a place in a chat. */
  readonly in_chat: boolean;
}

type Path = readonly (string | number)[];
/**
 * Object of a chat to which a member is moved. Null if there is none. A member whose name equals or resembles a known name of that object
 * has no place there.
 */
type Place = OpenPlace | null;

const NOWHERE = null;
/** An entry of `reasoning_details`, which a chat passes on unchanged. */
const thoughtPlace = openPlace(['type', 'text', 'signature', 'data']);
const NONE: ReadonlySet<string> = new Set();

/** Object of a chat that a block becomes, by the type of the block. */
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

/**
 * Objects of a chat that a document and its source become, by the type of the source. A document that consists of blocks is not among them,
 * because only its blocks appear in a chat.
 */
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

/** Unknown members of blocks. `is_merged`: the blocks become one text in a chat, so their members have no place there. */
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

/** Unknown members of a cache marker. They have no place in a chat, which has no cache markers. */
function* inMark(mark: Json | undefined, path: Path): Generator<UnknownInMessage> {
  if (isJsonObject(mark)) yield* unknownMembersOf(mark, markMembers, [...path, 'cache_control'], NOWHERE);
}

/**
 * Names of the unknown members in the tool results of a turn. A turn that has only results becomes one message for each. The turn's own
 * members go to the last of these, which cannot have two members of one name.
 */
function namesInResults({ content }: MessageTurn): ReadonlySet<string> {
  const results = content.filter(({ type }) => type === 'tool_result');
  return new Set(results.flatMap(result => Object.keys(membersExcept(result, blockMembers.tool_result ?? NONE))));
}

/** Unknown members of one object. `taken`: names that the object's place in the chat already has. */
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
