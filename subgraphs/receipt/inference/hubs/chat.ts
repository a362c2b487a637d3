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

/** As hubs send it; some leave out the type, of which there is only one. */
const HubToolCall = z
  .object({ id: Name, function: z.object({ name: Name, arguments: wellFormedText }) })
  .transform(({ id, function: called }) => ({ id, type: 'function' as const, function: called }));
export type HubToolCall = z.output<typeof HubToolCall>;

/** With the member names of the wire, because a receipt may commit to the canonical JSON of it. Absent members are left out. */
export type AssistantMessage = {
  readonly role: 'assistant';
  readonly content: string | null;
  readonly tool_calls?: readonly HubToolCall[];
  readonly refusal?: string;
} & Reasoning;

/** As much of a hub's message as is passed on. */
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

/** Whether it is only text, as answers were before there were tools. */
export function isText(message: AssistantMessage): boolean {
  return message.content !== null && Object.keys(message).every(name => TEXT_MEMBERS.has(name));
}

/** A number of tokens, or of a choice, as hubs give it. */
export const HubCount = z.int().min(0).max(INT_MAX);

/** Besides the three counts that all hubs send, everything else that a hub counts, under its own names. */
export type Usage = {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
} & UsageDetails;

/** As hubs give it: some leave out the sum, and some send an empty object. What is not counted is null. */
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

/** How the answer ended, as the hub names it. */
export const HubFinish = wellFormedText.max(64).nullish();

/** A hub that says itself that it did not finish has not answered. */
const ChoiceEnd = HubFinish.transform(finishReasonOf).refine(reason => reason !== 'broke_off', {
  error: 'did not finish',
});

/** With these reasons an empty text is a complete answer. */
const ENDED = new Set<HubFinishReason>(['stop', 'stop_sequence']);
/** Reasons of the API with which a message without text is an answer: its tokens were used for thinking, or it was withheld. */
const WORDLESS = new Set<HubFinishReason>(['length', 'content_filter']);

/**
 * Whether a message that ended so is an answer, which is delivered and charged: one rule for chats and responses, whole and streamed.
 * `content` is null if the hub sent none. Reasoning alone is no answer unless it has used up the tokens.
 */
export function isAnswer({ content, tool_calls, refusal }: AssistantMessage, finish_reason: HubFinishReason): boolean {
  if (content || tool_calls !== undefined || refusal !== undefined) return true;
  return WORDLESS.has(finish_reason) || (content === '' && ENDED.has(finish_reason));
}

/** What hubs leave out of a whole answer is filled in. */
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

/** A whole answer is complete, whether its hub says so or not. */
function endOf({ tool_calls }: AssistantMessage): HubFinishReason {
  return tool_calls === undefined ? 'stop' : 'tool_calls';
}

/** Beside the answer: malformed usage is ignored. */
export const AnsweredUsage = HubUsage.nullish()
  .catch(null)
  .transform(usage => usage ?? null);

/** Hubs that fail after they have answered 200 report it besides what they have, and in a stream in the middle of it. */
export const noError = z.null().optional();

/** As much of an OpenAI chat completion as is passed on. What a hub adds to it stays with us. */
export const HubCompletion = z
  .object({
    choices: z.tuple([HubChoice], HubChoice).transform(choicesToReturn),
    usage: AnsweredUsage,
    error: noError,
  })
  .transform(({ choices, usage }) => ({ choices, usage }));
export type HubCompletion = z.output<typeof HubCompletion>;

/** One answer is requested. Further choices are passed on if they are text; a receipt commits to the calls of one only. */
function choicesToReturn(choices: readonly [Choice, ...Choice[]]): readonly [Choice, ...Choice[]] {
  return choices.every(({ message }) => isText(message)) ? choices : [choices[0]];
}

/** A hub receives only what was written for it: no header, address, wallet or id of the caller; every call is sent under our own key. */
export interface HubRequest extends ForwardedMembers {
  readonly messages: readonly ChatRequestMessage[];
  readonly max_tokens: number | null;
  readonly temperature: number | null;
  readonly top_k?: number;
  /** The same for a hub of Anthropic's dialect, as the caller wrote it. */
  readonly in_anthropic?: AnthropicRequest;
}

export const CHAT_PATH = '/chat/completions';

/** A chat that is answered in one piece. */
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
 * What the caller wrote for a model: options of this service and the caller's identity are left out. Known members are
 * set last, so that no other member can replace them.
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

/** Numbers, flags, and objects of these, by the names that a hub gives them. Null is what it does not count. */
type UsageDetails = { readonly [name: string]: number | boolean | null | UsageDetails };

const NAME = /^[a-z][a-z0-9_]{0,63}$/;

/**
 * What a hub counts besides the three numbers that all of them send: the details of prompt and completion, tokens of its cache, its cost.
 * What is neither a number, a flag, null nor an object of these is left out, as texts and lists are, and so is what exceeds the bounds, or
 * is not counted at all.
 */
function usageDetails(given: Readonly<Record<string, unknown>>): UsageDetails {
  const counted = Object.entries(given).filter(([name, value]) => value !== null && isOfItsKind(name, value));
  return countsIn(Object.fromEntries(counted), limits.usage_details_depth_max);
}

/** Clients read members of what is called details, so anything else under such a name is left out. */
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
