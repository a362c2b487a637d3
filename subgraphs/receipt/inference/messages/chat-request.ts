import { isJsonObject, type Json, type JsonObject, present } from '../../../../schema/canonical-json.ts';
import { type Reasoning, reasoningOf } from '../../../../schema/reasoning.ts';
import type { ForwardedMembers } from '../../../../schema/requests/chat-completion.ts';
import type { ChatRequestMessage, ToolCall } from '../../../../schema/requests/chat-message.ts';
import type { Part } from '../../../../schema/requests/content.ts';
import type { MessageBlock } from '../../../../schema/requests/message-blocks.ts';
import type { MessagesRequest, OfferedTool } from '../../../../schema/requests/messages.ts';
import type { HubRequest } from '../hubs/chat.ts';

/*
 * The chat that a message comes to: hubs are asked in one language. Nothing of the request is lost but what a chat has no word for, and
 * that changes no answer: cache markers.
 */

export function askedOf(request: MessagesRequest): HubRequest {
  const { max_tokens, temperature = null, top_p, top_k, stop_sequences: stop, system, messages } = request;
  const said = system ? [{ role: 'system', content: textsOf(system, BETWEEN) } as ChatRequestMessage] : [];
  return {
    in_anthropic: asWritten(request),
    messages: [...said, ...messages.flatMap(turn => turns[turn.role](turn.content))],
    max_tokens,
    temperature,
    ...toolsOf(request),
    ...shapeOf(request),
    ...(top_p === undefined ? {} : { top_p }),
    ...(top_k === undefined ? {} : { top_k }),
    ...(stop === undefined ? {} : { stop }),
  };
}

const written = [
  'max_tokens',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'cache_control',
  'stop_sequences',
  'temperature',
  'top_p',
  'top_k',
] as const satisfies readonly (keyof MessagesRequest)[];

/** From known members only. Thinking that nobody has signed is no thinking of a model that is asked so, and would be refused. */
function asWritten(request: MessagesRequest): JsonObject {
  const members = present(Object.fromEntries(written.map(name => [name, request[name] as Json | undefined])));
  const messages = request.messages.map(({ role, content }) => ({
    role,
    content: content.filter(({ type, signature }) => type !== 'thinking' || signature !== ''),
  }));
  return { ...members, messages };
}

/** Blocks of a user or a system are passages of their own; those of an answer are one text. */
const BETWEEN = '\n\n';

type Blocks = readonly MessageBlock[];

const turns: Readonly<Record<'user' | 'assistant' | 'system', (content: Blocks) => ChatRequestMessage[]>> = {
  system: content => [{ role: 'system', content: textsOf(content, BETWEEN) }],
  user: content => {
    const results = content.filter(({ type }) => type === 'tool_result');
    const others = content.filter(({ type }) => type !== 'tool_result');
    // A result is text in a chat: an image that a tool brought is shown by whoever ran it.
    const shown = results.flatMap(result => shownIn(result.content));
    const passages = [...shown, ...others.flatMap(passagesOf)];
    const messages = results.map(resultOf);
    return passages.length === 0 && messages.length > 0 ? messages : [...messages, userOf(passages)];
  },
  assistant: content => {
    const calls = content.filter(({ type }) => type === 'tool_use').map(callOf);
    const text = textsOf(content, '');
    const said = text === '' && calls.length > 0 ? null : text;
    return [
      {
        role: 'assistant',
        content: said,
        ...(calls.length > 0 ? { tool_calls: calls } : {}),
        ...thoughtIn(content),
      },
    ];
  },
};

/**
 * What a model thought, as a chat has it. What is signed or encrypted goes in `reasoning_details`, where hubs give it and models want it
 * back unchanged; what nobody has signed is text alone.
 */
function thoughtIn(content: Blocks): Reasoning {
  const unsigned = content.filter(({ type, signature }) => type === 'thinking' && signature === '');
  return reasoningOf({
    reasoning_content: unsigned.map(({ thinking }) => String(thinking)).join(''),
    reasoning: '',
    reasoning_details: content.flatMap(detailOf),
  });
}

function detailOf({ type, thinking: text, signature, data }: MessageBlock): JsonObject[] {
  if (type === 'redacted_thinking') return [present({ type: 'reasoning.encrypted', data })];
  return type === 'thinking' && signature !== '' ? [present({ type: 'reasoning.text', text, signature })] : [];
}

function textsOf(content: Blocks, between: string): string {
  return content.flatMap(({ type, text }) => (type === 'text' ? [String(text)] : [])).join(between);
}

/** Text alone is one text; where there is an image or a file, everything is a part. */
function userOf(passages: readonly Part[]): ChatRequestMessage {
  if (passages.some(isShown)) return { role: 'user', parts: passages };
  return { role: 'user', content: passages.map(part => ('text' in part ? part.text : '')).join(BETWEEN) };
}

const FAILED = 'Error: ';

function resultOf({ tool_use_id, content, is_error }: MessageBlock): ChatRequestMessage {
  const text = blocksIn(content)
    .flatMap(passagesOf)
    .flatMap(part => ('text' in part ? [part.text] : []))
    .join(BETWEEN);
  return { role: 'tool', content: is_error ? FAILED + text : text, tool_call_id: String(tool_use_id) };
}

/** What is no text, and stands in a user's turn alone. */
const isShown = ({ type }: Part) => type !== 'text';

function shownIn(content: Json | undefined): Part[] {
  return blocksIn(content).flatMap(passagesOf).filter(isShown);
}

function blocksIn(content: Json | undefined): Blocks {
  return Array.isArray(content) ? (content as Blocks) : [];
}

const textPart = (text: string): Part => ({ type: 'text', text });

/** By the kind of a block: what a user says by it, in the parts of a chat. */
const passages: Readonly<Record<string, (block: JsonObject) => Part[]>> = {
  text: ({ text }) => [textPart(String(text))],
  image: ({ source }) => (isJsonObject(source) ? [{ type: 'image_url', image_url: { url: urlOf(source) } }] : []),
  search_result: ({ source, title, content }) => [
    textPart([String(title), String(source), textsOf(blocksIn(content), BETWEEN)].join('\n')),
  ],
  document: ({ source, title, context }) => {
    const head = [title, context].filter(text => typeof text === 'string').map(text => textPart(String(text)));
    return isJsonObject(source) ? [...head, ...documentIn(source, fileNameOf(title))] : head;
  },
};

function passagesOf(block: JsonObject): Part[] {
  return passages[String(block.type)]?.(block) ?? [];
}

/** A file of a chat has a name. */
function fileNameOf(title: Json | undefined): string {
  return typeof title === 'string' && title !== '' ? title : 'document.pdf';
}

function documentIn(source: JsonObject, filename: string): Part[] {
  const { type, data, content } = source;
  if (type === 'text') return [textPart(String(data))];
  if (type === 'base64') return [{ type: 'file', file: { file_data: urlOf(source), filename } }];
  return typeof content === 'string' ? [textPart(content)] : blocksIn(content).flatMap(passagesOf);
}

function urlOf({ type, media_type, data, url }: JsonObject): string {
  return type === 'url' ? String(url) : `data:${String(media_type)};base64,${String(data)}`;
}

function callOf({ id, name, input }: MessageBlock): ToolCall {
  const given = typeof input === 'string' ? input : JSON.stringify(input);
  return { id: String(id), type: 'function', function: { name: String(name), arguments: given } };
}

function toolsOf({ tools, tool_choice }: MessagesRequest): ForwardedMembers {
  if (!tools) return {};
  const parallel = tool_choice && 'disable_parallel_tool_use' in tool_choice && tool_choice.disable_parallel_tool_use;
  const choice = tool_choice && choiceOf(tool_choice);
  return {
    tools: tools.map(functionOf),
    ...(choice == null ? {} : { tool_choice: choice }),
    ...(parallel ? { parallel_tool_calls: false } : {}),
  };
}

function functionOf({ name, description, input_schema: parameters, strict }: OfferedTool): JsonObject {
  return { type: 'function', function: present({ name, description, parameters, strict }) };
}

/** `auto` is what is done anyway. */
function choiceOf(choice: NonNullable<MessagesRequest['tool_choice']>): Json {
  if (choice.type === 'tool') return { type: 'function', function: { name: choice.name } };
  return ({ auto: null, any: 'required', none: 'none' } as const)[choice.type];
}

/**
 * Thinking with a budget as an effort, since no other hub knows budgets: up to that many tokens it is that effort. `adaptive` leaves
 * it to the model, and `disabled` says nothing, since a model that always thinks would refuse to be told so.
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
  const json_schema = format && { name: 'answer', schema: format.schema, strict: true };
  return {
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    ...(json_schema ? { response_format: { type: 'json_schema', json_schema } } : {}),
  };
}
