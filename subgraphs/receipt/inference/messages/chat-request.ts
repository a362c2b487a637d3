import { isJsonObject, type Json, type JsonObject, present } from '../../../../schema/canonical-json.ts';
import { type Reasoning, reasoningOf } from '../../../../schema/reasoning.ts';
import type { ForwardedMembers } from '../../../../schema/requests/chat-completion.ts';
import type { ChatRequestMessage, ToolCall } from '../../../../schema/requests/chat-message.ts';
import { isPlainText, type Part, type TextPart } from '../../../../schema/requests/content.ts';
import { membersExcept } from '../../../../schema/requests/forwarded/extra.ts';
import {
  blockMembers,
  type MessageBlock,
  type MessageTurn,
  sourceMembers,
  turnMembers,
} from '../../../../schema/requests/message-blocks.ts';
import {
  knownMembers,
  type MessagesRequest,
  type MessageToolChoice,
  membersForModel,
  type OfferedTool,
} from '../../../../schema/requests/messages.ts';
import type { HubRequest } from '../hubs/chat.ts';

/*
 * Translates a request of the Messages API to a chat, which all other hubs accept. Only members that a chat cannot express and that do not
 * change an answer are lost, such as cache markers. Unknown members go to the part, tool or message that their object becomes. If their
 * object has no place in a chat (`unknown-members.ts`), the request goes only to hubs of Anthropic's dialect.
 */

export function chatRequestOf(request: MessagesRequest): HubRequest {
  const { max_tokens, temperature = null, top_p, top_k, stop_sequences: stop, system, messages, extra } = request;
  const said: ChatRequestMessage[] = system ? [{ role: 'system', ...textsOf(system, BETWEEN) }] : [];
  return {
    in_anthropic: { body: asWritten(request), betas: request.betas ?? [] },
    messages: [...said, ...messages.flatMap(messagesOf)],
    max_tokens,
    temperature,
    ...toolsOf(request),
    ...shapeOf(request),
    ...(top_p === undefined ? {} : { top_p }),
    ...(top_k === undefined ? {} : { top_k }),
    ...(stop === undefined ? {} : { stop }),
    ...(extra === undefined ? {} : { extra }),
  };
}

/**
 * The request for hubs of Anthropic's dialect, as the caller wrote it. Thinking without a signature is left out: it is not from a model of
 * this dialect, and the hub would refuse it.
 */
function asWritten(request: MessagesRequest): JsonObject {
  const members = present(Object.fromEntries(membersForModel.map(name => [name, request[name]])));
  const messages = request.messages.map(turn => ({
    ...turn,
    content: turn.content.filter(({ type, signature }) => type !== 'thinking' || signature !== ''),
  }));
  return { ...request.extra, ...members, messages };
}

/** Text between the blocks of a user or a system, which are separate passages. The blocks of an answer are joined without it. */
const BETWEEN = '\n\n';

type Blocks = readonly MessageBlock[];

/** Messages of a chat for one turn. Unknown members of the turn itself are moved to the last of these messages. */
function messagesOf(turn: MessageTurn): ChatRequestMessage[] {
  const messages = turns[turn.role](turn.content);
  const extra = membersExcept(turn, turnMembers);
  const last = messages.at(-1);
  if (!last || Object.keys(extra).length === 0) return messages;
  return [...messages.slice(0, -1), { ...last, extra: { ...last.extra, ...extra } }];
}

const turns: Readonly<Record<MessageTurn['role'], (content: Blocks) => ChatRequestMessage[]>> = {
  system: content => [{ role: 'system', ...textsOf(content, BETWEEN) }],
  user: content => {
    const results = content.filter(({ type }) => type === 'tool_result');
    const others = content.filter(({ type }) => type !== 'tool_result');
    // A tool result is only text in a chat, so its images are moved to the user's message.
    const shown = results.flatMap(result => shownIn(result.content));
    const passages = [...shown, ...others.flatMap(passagesOf)];
    const messages = results.map(resultOf);
    return passages.length === 0 && messages.length > 0 ? messages : [...messages, userOf(passages)];
  },
  assistant: content => {
    const calls = content.filter(({ type }) => type === 'tool_use').map(callOf);
    const text = textsOf(content, '');
    const said = text.content === '' && calls.length > 0 ? { content: null } : text;
    return [
      {
        role: 'assistant',
        ...said,
        ...(calls.length > 0 ? { tool_calls: calls } : {}),
        ...thoughtIn(content),
      },
    ];
  },
};

/**
 * Reasoning of a model in the members of a chat. Signed or encrypted blocks go into `reasoning_details`, which must be sent back to models
 * unchanged. Unsigned blocks become plain text.
 */
function thoughtIn(content: Blocks): Reasoning {
  const unsigned = content.filter(({ type, signature }) => type === 'thinking' && signature === '');
  return reasoningOf({
    reasoning_content: unsigned.map(({ thinking }) => String(thinking)).join(''),
    reasoning: '',
    reasoning_details: content.flatMap(detailOf),
  });
}

function detailOf(block: MessageBlock): JsonObject[] {
  const { type, thinking: text, signature, data } = block;
  if (type === 'redacted_thinking') return [{ ...unknownIn(block), ...present({ type: 'reasoning.encrypted', data }) }];
  if (type !== 'thinking' || signature === '') return [];
  return [{ ...unknownIn(block), ...present({ type: 'reasoning.text', text, signature }) }];
}

/** Members of a block that this service does not know. */
function unknownIn(block: JsonObject): JsonObject {
  return membersExcept(block, blockMembers[String(block.type)] ?? new Set());
}

/** Members of the source of an image or a document that this service does not know. */
function unknownInSource(source: JsonObject): JsonObject {
  return membersExcept(source, sourceMembers[String(source.type)] ?? new Set());
}

type Texts = { readonly content: string } | { readonly parts: readonly Part[] };

/** Texts among the blocks: one text, or parts if one of them has other members. */
function textsOf(content: Blocks, between: string): { readonly content?: string; readonly parts?: readonly Part[] } {
  return joinText(
    content.flatMap(block => (block.type === 'text' ? [textPart(String(block.text), unknownIn(block))] : [])),
    between,
  );
}

function joinText(parts: readonly TextPart[], between: string): Texts {
  if (!parts.every(isPlainText)) return { parts };
  return { content: parts.map(({ text }) => text).join(between) };
}

const isText = (part: Part): part is TextPart => part.type === 'text';

/** User message of a chat. Its passages become one text, or parts if one of them is an image or a file or has other members. */
function userOf(passages: readonly Part[]): ChatRequestMessage {
  return { role: 'user', ...(passages.every(isText) ? joinText(passages, BETWEEN) : { parts: passages }) };
}

const FAILED = 'Error: ';

function resultOf(block: MessageBlock): ChatRequestMessage {
  const { tool_use_id, content, is_error } = block;
  const said = joinText(blocksIn(content).flatMap(passagesOf).filter(isText), BETWEEN);
  const extra = unknownIn(block);
  return {
    role: 'tool',
    ...(is_error ? markFailed(said) : said),
    tool_call_id: String(tool_use_id),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

function markFailed(said: Texts): Texts {
  return 'parts' in said ? { parts: [textPart(FAILED), ...said.parts] } : { content: FAILED + said.content };
}

function shownIn(content: Json | undefined): Part[] {
  return blocksIn(content)
    .flatMap(passagesOf)
    .filter(part => !isText(part));
}

function blocksIn(content: Json | undefined): Blocks {
  return Array.isArray(content) ? (content as Blocks) : [];
}

const textPart = (text: string, beside: JsonObject = {}): TextPart => ({ ...beside, type: 'text', text });

/** Parts of a chat for a block of a user's turn, by the type of the block. */
const passages: Readonly<Record<string, (block: JsonObject) => Part[]>> = {
  text: block => [textPart(String(block.text), unknownIn(block))],
  image: block => {
    const { source } = block;
    if (!isJsonObject(source)) return [];
    return [{ ...unknownIn(block), type: 'image_url', image_url: { ...unknownInSource(source), url: urlOf(source) } }];
  },
  search_result: block => {
    const { source, title, content } = block;
    const found = blocksIn(content).map(({ text }) => String(text));
    return [textPart([String(title), String(source), found.join(BETWEEN)].join('\n'), unknownIn(block))];
  },
  document: block => {
    const { source, title, context } = block;
    const head = [title, context].filter(text => typeof text === 'string').map(text => textPart(String(text)));
    return isJsonObject(source) ? [...head, ...documentIn(source, fileNameOf(title), unknownIn(block))] : head;
  },
};

function passagesOf(block: JsonObject): Part[] {
  return passages[String(block.type)]?.(block) ?? [];
}

/** Name of a document. Files of a chat need one, so a document without a title has a default name. */
function fileNameOf(title: Json | undefined): string {
  return typeof title === 'string' && title !== '' ? title : 'document.pdf';
}

function documentIn(source: JsonObject, filename: string, beside: JsonObject): Part[] {
  const { type, data, content } = source;
  if (type === 'text') return [textPart(String(data), beside)];
  if (type === 'base64')
    return [{ ...beside, type: 'file', file: { ...unknownInSource(source), file_data: urlOf(source), filename } }];
  return typeof content === 'string' ? [textPart(content)] : blocksIn(content).flatMap(passagesOf);
}

function urlOf({ type, media_type, data, url }: JsonObject): string {
  return type === 'url' ? String(url) : `data:${String(media_type)};base64,${String(data)}`;
}

function callOf(block: MessageBlock): ToolCall {
  const { id, name, input } = block;
  const given = typeof input === 'string' ? input : JSON.stringify(input);
  const called = { name: String(name), arguments: given };
  return { ...unknownIn(block), id: String(id), type: 'function', function: called };
}

function toolsOf({ tools, tool_choice }: MessagesRequest): ForwardedMembers {
  if (!tools) return {};
  const parallel = tool_choice?.disable_parallel_tool_use;
  const choice = tool_choice && choiceOf(tool_choice);
  return {
    tools: tools.map(functionOf),
    ...(choice == null ? {} : { tool_choice: choice }),
    ...(parallel ? { parallel_tool_calls: false } : {}),
  };
}

function functionOf(tool: OfferedTool): JsonObject {
  const { name, description, input_schema: parameters, strict } = tool;
  const beside = membersExcept(tool, knownMembers.tool);
  return { ...beside, type: 'function', function: present({ name, description, parameters, strict }) };
}

/** Tool choice of a chat. Null for `auto`, which is the default. */
function choiceOf(choice: MessageToolChoice): Json {
  if (choice.type === 'tool')
    return {
      ...membersExcept(choice, knownMembers.choices.tool),
      type: 'function',
      function: present({ name: choice.name }),
    };
  return ({ auto: null, any: 'required', none: 'none' } as const)[choice.type];
}

/**
 * Maximum thinking budget in tokens for each reasoning effort, because other hubs have no budgets. `adaptive` sends no effort and leaves it
 * to the model. `disabled` sends none either, because a model that always thinks would refuse it.
 */
const effortOfBudget = [
  [4_096, 'low'],
  [16_384, 'medium'],
  [Number.POSITIVE_INFINITY, 'high'],
] as const;

function shapeOf({ thinking, output_config }: MessagesRequest): ForwardedMembers {
  const budget = thinking?.budget_tokens;
  const by_budget = budget === undefined ? undefined : effortOfBudget.find(([most]) => budget <= most)?.[1];
  const effort = output_config?.effort ?? by_budget;
  const format = output_config?.format;
  const beside = format && membersExcept(format, knownMembers.format);
  const json_schema = format && { name: 'answer', strict: true, ...beside, schema: format.schema };
  return {
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    ...(json_schema ? { response_format: { type: 'json_schema', json_schema } } : {}),
  };
}
