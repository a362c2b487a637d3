import { z } from 'zod';
import { reasoningMembersOf, reasoningText } from '../../../../schema/reasoning.ts';
import { reasoningToReturn } from '../../../../schema/requests/returned-reasoning.ts';
import type { Channel } from '../../../piece.ts';
import { type Question, readJsonAs } from '../hubs/ask.ts';
import {
  AnsweredUsage,
  type AssistantMessage,
  chatQuestion,
  HubChoice,
  type HubRequest,
  noError,
  type Usage,
} from '../hubs/chat.ts';
import { discreetReply, namesOfTools } from '../hubs/discretion.ts';

/** A chat completion, of which a response reads only the first choice. */
const HubReply = z
  .object({
    choices: z.tuple([HubChoice], z.unknown()),
    usage: AnsweredUsage,
    error: noError,
  })
  .transform(({ choices: [choice], usage }) => ({ choices: [choice] as const, usage }));
export type HubReply = z.output<typeof HubReply>;

export function replyQuestion(request: HubRequest): Question<HubReply> {
  return {
    ...chatQuestion(request),
    read: bytes => readJsonAs(HubReply, bytes),
    discreet: (reply, tells) => discreetReply(reply, { tells, tools: namesOfTools(request.tools) }),
  };
}

type ItemStatus = 'completed' | 'incomplete';

/**
 * A message in the output. Items have the member names of the wire, because a receipt commits to the canonical JSON of the list of items.
 */
export type MessageItem = {
  readonly id: string;
  readonly type: 'message';
  readonly role: 'assistant';
  readonly status: ItemStatus;
  readonly content: readonly ContentPart[];
};
export type ContentPart =
  | { readonly type: 'output_text'; readonly text: string; readonly annotations: never[] }
  | { readonly type: 'refusal'; readonly refusal: string };
export type CallItem = {
  readonly id: string;
  readonly type: 'function_call';
  readonly status: ItemStatus;
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
};
/**
 * Reasoning of the model. `summary` is empty, since hubs give the reasoning itself; `content` is empty if all of it is
 * encrypted.
 */
export type ReasoningItem = {
  readonly id: string;
  readonly type: 'reasoning';
  readonly status: ItemStatus;
  readonly summary: never[];
  readonly content: readonly ReasoningPart[];
  /** All of the reasoning in the hub's own members, in a form that can be sent back. Absent if it was not requested. */
  readonly encrypted_content?: string;
};
export type ReasoningPart = { readonly type: 'reasoning_text'; readonly text: string };
export type OutputItem = MessageItem | CallItem | ReasoningItem;

export type OutputFault = {
  readonly code: 'content_filter' | 'max_output_tokens' | 'server_error';
  readonly message: string;
};

export type ReplyOutcome = { readonly output: OutputItem[]; readonly fault: OutputFault | null };

export const itemIds = {
  message: (task_id: string) => `msg_${task_id}`,
  reasoning: (task_id: string) => `rs_${task_id}`,
  call: (task_id: string, index: number) => `fc_${index}_${task_id}`,
} as const;

/**
 * Output and fault of a whole reply. A reply that was cut short is delivered as `incomplete` and charged like any other: the model did its
 * work, and the same request would have the same result. A response that is not a reply fails earlier.
 */
export function replyOutcome(
  { choices: [{ message, finish_reason }] }: HubReply,
  { task_id, returnable }: Pick<ReplyFacts, 'task_id' | 'returnable'>,
): ReplyOutcome {
  const fault = faultOf(finish_reason, message);
  const status: ItemStatus = fault || finish_reason === 'length' ? 'incomplete' : 'completed';
  return { output: outputOf(message, { task_id, status, returnable }), fault };
}

interface ReplyFacts {
  readonly task_id: string;
  readonly status: ItemStatus;
  /** Whether the request is for reasoning in a form that can be sent back. */
  readonly returnable: boolean;
  /**
   * Channels of the message, in the order in which they began. Absent: reasoning comes first, the message before its calls, and text before
   * a refusal.
   */
  readonly began?: readonly Channel[];
  /** Text of the reasoning of a stream. Absent: it is read from the message. */
  readonly reasoning_text?: string;
}

export function outputOf(message: AssistantMessage, made: ReplyFacts): OutputItem[] {
  const { task_id, status, returnable, began = [], reasoning_text = reasoningText(message) } = made;
  const first = (channels: readonly Channel[]) => {
    const places = channels.map(channel => began.indexOf(channel)).filter(place => place !== -1);
    return places.length === 0 ? -1 : Math.min(...places);
  };
  const content = partsOf(message).sort((one, other) => first([one.channel]) - first([other.channel]));
  const head = { id: itemIds.message(task_id), type: 'message' as const, role: 'assistant' as const, status };
  const parts = content.map(({ part }) => part);
  const thought = { id: itemIds.reasoning(task_id), type: 'reasoning' as const, status, summary: [] };
  const encrypted_content = returnable ? reasoningToReturn(reasoningMembersOf(message)) : null;
  const thoughts: ReasoningPart[] = reasoning_text === '' ? [] : [{ type: 'reasoning_text', text: reasoning_text }];
  const reasoning = { ...thought, content: thoughts, ...(encrypted_content === null ? {} : { encrypted_content }) };
  // Reasoning without text has no piece, so its item is the last one in a stream.
  const is_last = thoughts.length === 0 && began.length > 0;
  const items: { readonly channels: readonly Channel[]; readonly item: OutputItem }[] = [
    ...((thoughts.length === 0 && encrypted_content === null) || is_last
      ? []
      : [{ channels: ['reasoning'] as const, item: reasoning }]),
    ...(parts.length === 0 ? [] : [{ channels: ['text', 'refusal'] as const, item: { ...head, content: parts } }]),
    ...callsOf(message, task_id, status).map((item, call) => ({ channels: [call], item })),
  ];
  const ordered = items.sort((one, other) => first(one.channels) - first(other.channels)).map(({ item }) => item);
  return is_last && encrypted_content !== null ? [...ordered, reasoning] : ordered;
}

function partsOf({ content, refusal }: AssistantMessage): { channel: Channel; part: ContentPart }[] {
  return [
    ...(content === null
      ? []
      : [{ channel: 'text' as const, part: { type: 'output_text' as const, text: content, annotations: [] } }]),
    ...(refusal === undefined ? [] : [{ channel: 'refusal' as const, part: { type: 'refusal' as const, refusal } }]),
  ];
}

function callsOf({ tool_calls = [] }: AssistantMessage, task_id: string, status: ItemStatus): CallItem[] {
  return tool_calls.map(({ id: call_id, function: called }, index) => ({
    id: itemIds.call(task_id, index),
    type: 'function_call',
    status,
    call_id,
    name: called.name,
    arguments: called.arguments,
  }));
}

export function faultOf(
  finish_reason: string | null,
  { content, refusal, tool_calls }: AssistantMessage,
): OutputFault | null {
  if (finish_reason === 'content_filter')
    return { code: 'content_filter', message: 'A content filter withheld the answer or cut it short.' };
  if (finish_reason === 'length' && !content && !refusal && !tool_calls)
    return {
      code: 'max_output_tokens',
      message: 'The maximum number of tokens was reached before there was any output.',
    };
  return null;
}

/** Token counts under the names of chat completions and also under those of the Responses API, because clients read either. */
export function responseUsage(usage: Usage): Usage & { input_tokens: number; output_tokens: number } {
  const { prompt_tokens, completion_tokens, prompt_tokens_details, completion_tokens_details } = usage;
  return {
    ...usage,
    input_tokens: prompt_tokens,
    output_tokens: completion_tokens,
    ...(prompt_tokens_details === undefined ? {} : { input_tokens_details: prompt_tokens_details }),
    ...(completion_tokens_details === undefined ? {} : { output_tokens_details: completion_tokens_details }),
  };
}

export interface ResponseEnd {
  readonly status: 'completed' | 'incomplete' | 'failed';
  readonly error: (OutputFault & { readonly code: 'server_error' }) | null;
  readonly incomplete_details: { readonly reason: 'content_filter' | 'max_output_tokens' } | null;
}

/** How an answer ended, in the members of the Responses API. Only an answer that broke off has failed. */
export function howResponseEnded(output: readonly OutputItem[], fault: OutputFault | null): ResponseEnd {
  if (fault?.code === 'server_error')
    return { status: 'failed', error: { ...fault, code: 'server_error' }, incomplete_details: null };
  const cut_short = output.some(({ status }) => status === 'incomplete') ? 'max_output_tokens' : null;
  const reason = fault?.code ?? cut_short;
  if (reason === null) return { status: 'completed', error: null, incomplete_details: null };
  return { status: 'incomplete', error: null, incomplete_details: { reason } };
}

export function textOf(output: readonly OutputItem[]): string {
  const parts = output.flatMap(item => (item.type === 'message' ? item.content : []));
  return parts.map(part => (part.type === 'output_text' ? part.text : '')).join('');
}
