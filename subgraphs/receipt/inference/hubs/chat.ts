import { z } from 'zod';
import type { Json, JsonObject } from '../../../../schema/canonical-json.ts';
import { limits } from '../../../../schema/limits.ts';
import type { ForwardedMembers } from '../../../../schema/requests/chat-completion.ts';
import type { ChatRequestMessage } from '../../../../schema/requests/chat-message.ts';
import { wellFormedText } from '../../../../schema/requests/parse.ts';
import { type Question, readJsonAs } from './ask.ts';

const Name = wellFormedText.min(1).max(limits.tool_call_id_chars_max);

/** As hubs give it; some leave out the type, of which there is one. */
const HubToolCall = z
  .object({ id: Name, function: z.object({ name: Name, arguments: wellFormedText }) })
  .transform(({ id, function: called }) => ({ id, type: 'function' as const, function: called }));
export type HubToolCall = z.output<typeof HubToolCall>;

/** In the words of the wire: a receipt may commit to the canonical JSON of it. What is not there is left out. */
export type AssistantMessage = {
  readonly role: 'assistant';
  readonly content: string | null;
  readonly tool_calls?: readonly HubToolCall[];
  readonly refusal?: string;
};

/** As much of a hub's message as is passed on. */
export const HubMessage = z
  .object({
    role: z.literal('assistant'),
    content: wellFormedText.nullable().default(null),
    tool_calls: z.array(HubToolCall).max(limits.tool_calls_max).nullish(),
    refusal: wellFormedText.nullish(),
  })
  .transform(({ content, tool_calls, refusal }) => messageOf(content, tool_calls ?? [], refusal ?? ''));

export function messageOf(content: string | null, calls: readonly HubToolCall[], refusal: string): AssistantMessage {
  return {
    role: 'assistant',
    content,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(refusal === '' ? {} : { refusal }),
  };
}

/** Whether it is text and nothing else, as an answer was before there were tools. */
export function isText({ content, tool_calls, refusal }: AssistantMessage): boolean {
  return content !== null && tool_calls === undefined && refusal === undefined;
}

/** Whether there is anything in it: text, be it empty, a call, or a refusal. */
export function says({ content, tool_calls, refusal }: AssistantMessage): boolean {
  return content !== null || tool_calls !== undefined || refusal !== undefined;
}

const INT32_MAX = 2 ** 31 - 1;
const count = z.int().min(0).max(INT32_MAX);

export const Usage = z.object({ prompt_tokens: count, completion_tokens: count, total_tokens: count });
export type Usage = z.output<typeof Usage>;

export const FinishReason = wellFormedText.max(64).nullable().default(null);

const Choice = z.object({
  index: count,
  message: HubMessage.refine(says, { error: 'says nothing and calls nothing' }),
  finish_reason: FinishReason,
});
type Choice = z.output<typeof Choice>;

/** As much of an OpenAI chat completion as is passed on. What a hub adds to it stays with us. */
export const HubCompletion = z.object({
  choices: z.tuple([Choice], Choice).transform(answered),
  usage: Usage.nullable().default(null),
});
export type HubCompletion = z.output<typeof HubCompletion>;

/** One answer is asked for. More of them go on where they are text, as ever; a receipt commits to the calls of one alone. */
function answered(choices: readonly [Choice, ...Choice[]]): readonly [Choice, ...Choice[]] {
  return choices.every(({ message }) => isText(message)) ? choices : [choices[0]];
}

/** All that a hub learns: no header, address, wallet or id of the caller; every call goes out under our own key. */
export interface HubRequest extends ForwardedMembers {
  readonly messages: readonly ChatRequestMessage[];
  readonly max_tokens: number | null;
  readonly temperature: number | null;
}

export const CHAT_PATH = '/chat/completions';

/** A chat that is answered in one piece. */
export function chatQuestion(request: HubRequest): Question<HubCompletion> {
  return {
    modality: 'text',
    path: CHAT_PATH,
    body: (model, reasons) => ({
      content_type: 'application/json',
      bytes: JSON.stringify(chatBody(request, model, reasons)),
    }),
    read: bytes => readJsonAs(HubCompletion, bytes),
  };
}

/** What goes on as it was asked for, where it was. */
const forwarded = [
  'max_tokens',
  'temperature',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'top_p',
  'stop',
  'seed',
  'presence_penalty',
  'frequency_penalty',
] as const satisfies readonly (keyof HubRequest)[];

/** Built from known members only, so that nothing of the caller's slips through with a spread. */
export function chatBody(request: HubRequest, model: string, reasons: boolean): JsonObject {
  const names = reasons ? ([...forwarded, 'reasoning_effort'] as const) : forwarded;
  const members = names.flatMap((name): [string, Json][] => {
    const value = request[name];
    return value === null || value === undefined ? [] : [[name, value as Json]];
  });
  return { model, messages: request.messages.map(wireMessage), ...Object.fromEntries(members) };
}

function wireMessage({ role, content, parts, tool_calls, refusal, tool_call_id }: ChatRequestMessage): JsonObject {
  return {
    role,
    content: parts ?? content ?? null,
    ...(tool_calls ? { tool_calls } : {}),
    ...(refusal === undefined ? {} : { refusal }),
    ...(tool_call_id === undefined ? {} : { tool_call_id }),
  };
}
