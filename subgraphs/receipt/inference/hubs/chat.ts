import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../../../schema/canonical-json.ts';
import { INT_MAX, limits } from '../../../../schema/limits.ts';
import type { Reasoning } from '../../../../schema/reasoning.ts';
import type { ForwardedMembers } from '../../../../schema/requests/chat-completion.ts';
import type { ChatRequestMessage } from '../../../../schema/requests/chat-message.ts';
import { wellFormedText } from '../../../../schema/requests/text.ts';
import type { AnthropicRequest } from './anthropic.ts';
import { type CalledModel, type Question, readJsonAs } from './ask.ts';
import { discreetReply, namesOfTools } from './discretion.ts';
import { finishReasonOf, type HubFinishReason } from './finish-reason.ts';
import { reasoningMembers, wholeReasoning } from './reasoning.ts';

const Name = wellFormedText.min(1).max(limits.tool_call_id_chars_max);

/** A tool call as hubs send it. Some hubs omit the type, of which there is only one. */
const HubToolCall = z
  .object({ id: Name, function: z.object({ name: Name, arguments: wellFormedText }) })
  .transform(({ id, function: called }) => ({ id, type: 'function' as const, function: called }));
export type HubToolCall = z.output<typeof HubToolCall>;

/**
 * A message of a model. It has the member names of the wire, because a receipt may commit to its canonical JSON. Absent members are left
 * out.
 */
export type AssistantMessage = {
  readonly role: 'assistant';
  readonly content: string | null;
  readonly tool_calls?: readonly HubToolCall[];
  readonly refusal?: string;
} & Reasoning;

/** The part of a hub's message that is passed on. */
export const HubMessage = z
  .object({
    role: z.literal(['assistant', '']).nullish(),
    content: wellFormedText.nullable().default(null),
    tool_calls: z.array(HubToolCall).max(limits.tool_calls_max).nullish(),
    refusal: wellFormedText.nullish(),
    ...reasoningMembers,
  })
  .transform(({ content, tool_calls, refusal, ...reasoning }) =>
    messageOf({ content, calls: tool_calls ?? [], refusal: refusal ?? '', reasoning: wholeReasoning(reasoning) }),
  );

interface MessageParts {
  readonly content: string | null;
  readonly calls: readonly HubToolCall[];
  readonly refusal: string;
  readonly reasoning: Reasoning;
}

export function messageOf({ content, calls, refusal, reasoning }: MessageParts): AssistantMessage {
  return {
    role: 'assistant',
    content,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(refusal === '' ? {} : { refusal }),
    ...reasoning,
  };
}

const TEXT_MEMBERS = new Set(['role', 'content']);

/** Whether a message is only text, as all answers were before tools were supported. */
export function isText(message: AssistantMessage): boolean {
  return message.content !== null && Object.keys(message).every(name => TEXT_MEMBERS.has(name));
}

/** A number of tokens, or the index of a choice, as hubs send it. */
export const HubCount = z.int().min(0).max(INT_MAX);

/** Usage of an answer: the three counts that all hubs send, and everything else that a hub counts, under the hub's names. */
export type Usage = {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
} & UsageDetails;

/**
 * Usage as hubs send it. Some hubs omit the sum, and some send an empty object. Null if the tokens of the prompt or of the answer are not
 * counted.
 */
export const HubUsage = z
  .looseObject({
    prompt_tokens: HubCount.nullish(),
    completion_tokens: HubCount.nullish(),
    total_tokens: HubCount.nullish(),
  })
  .transform(({ prompt_tokens, completion_tokens, total_tokens, ...given }): Usage | null => {
    if (prompt_tokens == null || completion_tokens == null) return null;
    const sum = total_tokens ?? prompt_tokens + completion_tokens;
    return sum > INT_MAX ? null : { prompt_tokens, completion_tokens, total_tokens: sum, ...usageDetails(given) };
  });

/** Finish reason of an answer, as the hub names it. */
export const HubFinish = wellFormedText.max(64).nullish();

/** Finish reason of a whole answer. If the hub reports that it did not finish, it has not answered. */
const ChoiceEnd = HubFinish.transform(finishReasonOf).refine(reason => reason !== 'broke_off', {
  error: 'did not finish',
});

/** Finish reasons with which an empty text is a complete answer. */
const ENDED = new Set<HubFinishReason>(['stop', 'stop_sequence']);
/** Finish reasons with which a message without text is an answer: its tokens were used up for thinking, or a filter withheld it. */
const WORDLESS = new Set<HubFinishReason>(['length', 'content_filter']);

/**
 * Whether a message with this finish reason is an answer, which is delivered and charged. This rule applies to chats, responses and
 * messages, whole and streamed. `content` is null if the hub sent none. Reasoning alone is an answer only if it has used up the tokens or a
 * filter withheld the rest.
 */
export function isAnswer({ content, tool_calls, refusal }: AssistantMessage, finish_reason: HubFinishReason): boolean {
  if (content || tool_calls !== undefined || refusal !== undefined) return true;
  return WORDLESS.has(finish_reason) || (content === '' && ENDED.has(finish_reason));
}

/** A choice of a whole answer. Members that hubs omit are filled in. */
export const HubChoice = z
  .object({ index: HubCount.nullish(), message: HubMessage, finish_reason: ChoiceEnd })
  .transform(({ index, message, finish_reason }) => ({
    index: index ?? 0,
    message,
    finish_reason: finish_reason ?? endOf(message),
  }))
  .refine(({ message, finish_reason }) => isAnswer(message, finish_reason), {
    error: 'says nothing and calls nothing',
  });
type Choice = z.output<typeof HubChoice>;

/** Finish reason of a message for which the hub names none. A whole answer counts as complete even then. */
function endOf({ tool_calls }: AssistantMessage): HubFinishReason {
  return tool_calls === undefined ? 'stop' : 'tool_calls';
}

/** Usage in an answer. It is not part of what was requested, so malformed usage is ignored. */
export const AnsweredUsage = HubUsage.nullish()
  .catch(null)
  .transform(usage => usage ?? null);

/**
 * Member in which hubs report an error after they have sent status 200, beside a partial answer or in the middle of a stream. In an answer
 * it must be absent or null.
 */
export const noError = z.null().optional();

/** The part of an OpenAI chat completion that is passed on. Members that a hub adds are dropped. */
export const HubCompletion = z
  .object({
    choices: z.tuple([HubChoice], HubChoice).transform(choicesToReturn),
    usage: AnsweredUsage,
    error: noError,
  })
  .transform(({ choices, usage }) => ({ choices, usage }));
export type HubCompletion = z.output<typeof HubCompletion>;

/**
 * Choices that are passed on. Only one is requested. Further ones are passed on only if all are text, because a receipt commits to the
 * calls of one choice only.
 */
function choicesToReturn(choices: readonly [Choice, ...Choice[]]): readonly [Choice, ...Choice[]] {
  return choices.every(({ message }) => isText(message)) ? choices : [choices[0]];
}

/**
 * Chat request to a hub. It has no header, address, wallet or id of the caller. It is sent under our own key, or to the router under the
 * caller's router key.
 */
export interface HubRequest extends ForwardedMembers {
  readonly messages: readonly ChatRequestMessage[];
  readonly max_tokens: number | null;
  readonly temperature: number | null;
  readonly top_k?: number;
  /** The request for hubs of Anthropic's dialect, as the caller wrote it. */
  readonly in_anthropic?: AnthropicRequest;
}

export const CHAT_PATH = '/chat/completions';

/** Request for a chat that is answered whole. */
export function chatQuestion(request: HubRequest): Question<HubCompletion> {
  return {
    modality: 'text',
    path: CHAT_PATH,
    limits_tokens: request.max_tokens !== null,
    added: ['model'],
    ...(request.in_anthropic && { in_anthropic: request.in_anthropic }),
    body: asked => ({
      content_type: 'application/json',
      bytes: JSON.stringify(chatBody(request, asked)),
    }),
    read: bytes => readJsonAs(HubCompletion, bytes),
    discreet: (reply, tells) => discreetReply(reply, { tells, tools: namesOfTools(request.tools) }),
  };
}

/** Members that are passed on unchanged if present. */
const forwarded = [
  'max_tokens',
  'temperature',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'top_p',
  'top_k',
  'stop',
  'seed',
  'presence_penalty',
  'frequency_penalty',
] as const satisfies readonly (keyof HubRequest)[];

/**
 * Body of a chat request. Options of this service and the caller's identity are left out. Known members are set last, so that no other
 * member can replace them.
 */
export function chatBody(request: HubRequest, { model, reasons, token_limit_member }: CalledModel): JsonObject {
  const names = reasons ? ([...forwarded, 'reasoning_effort'] as const) : forwarded;
  const members = names.flatMap((name): [string, Json][] => {
    const value = request[name];
    const member = name === 'max_tokens' ? token_limit_member : name;
    return value === null || value === undefined ? [] : [[member, value as Json]];
  });
  return {
    ...request.extra,
    model,
    messages: request.messages.map(wireMessage),
    ...Object.fromEntries(members),
  };
}

function wireMessage({ content, parts, extra, ...members }: ChatRequestMessage): JsonObject {
  return { ...extra, ...members, content: parts ?? content ?? null };
}

/** Numbers, booleans, and objects of these, under the hub's names. Null is a value that the hub does not count. */
type UsageDetails = { readonly [name: string]: number | boolean | null | UsageDetails };

const NAME = /^[a-z][a-z0-9_]{0,63}$/;

/**
 * Counts of a hub besides the three that all hubs send, such as details of prompt and completion, tokens of its cache, and its cost. Only
 * numbers, booleans, null and objects of these are kept, within the bounds. Counts that are null themselves are left out.
 */
function usageDetails(given: Readonly<Record<string, unknown>>): UsageDetails {
  const counted = Object.entries(given).filter(([name, value]) => value !== null && isOfItsKind(name, value));
  return countsIn(Object.fromEntries(counted), limits.usage_details_depth_max);
}

/** Whether a value is an object if its name ends in `_details`. Clients read members of such values, so anything else is left out. */
function isOfItsKind(name: string, value: unknown): boolean {
  return !name.endsWith('_details') || isJsonObject(value);
}

function countsIn(given: Readonly<Record<string, unknown>>, depth_left: number): UsageDetails {
  const counts = Object.entries(given).flatMap(([name, value]) => {
    const kept = NAME.test(name) ? countOf(value, depth_left) : undefined;
    return kept === undefined ? [] : [[name, kept] as const];
  });
  return Object.fromEntries(counts.slice(0, limits.usage_details_max));
}

function countOf(value: unknown, depth_left: number): UsageDetails[string] | undefined {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  return isJsonObject(value) && depth_left > 1 ? countsIn(value, depth_left - 1) : undefined;
}
