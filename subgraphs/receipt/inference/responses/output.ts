import { z } from 'zod';
import type { Channel } from '../../../piece.ts';
import { type Question, readJsonAs } from '../hubs/ask.ts';
import {
  type AssistantMessage,
  chatQuestion,
  FinishReason,
  HubMessage,
  type HubRequest,
  says,
  Usage,
} from '../hubs/chat.ts';

const Choice = z
  .object({ message: HubMessage, finish_reason: FinishReason })
  .refine(
    ({ message, finish_reason }) => says(message) || finish_reason === 'content_filter' || finish_reason === 'length',
  );

/**
 * A chat completion as a response reads it. One that says and calls nothing is no answer, and nothing is charged for it,
 * unless it says why.
 */
const HubReply = z.object({ choices: z.tuple([Choice], z.unknown()), usage: Usage.nullable().default(null) });
export type HubReply = z.output<typeof HubReply>;

export function replyQuestion(request: HubRequest): Question<HubReply> {
  return { ...chatQuestion(request), read: bytes => readJsonAs(HubReply, bytes) };
}

type ItemStatus = 'completed' | 'incomplete';

/** In the words of the wire: a receipt commits to the canonical JSON of the list of them. */
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
export type OutputItem = MessageItem | CallItem;

export type OutputFault = {
  readonly code: 'content_filter' | 'max_output_tokens' | 'server_error';
  readonly message: string;
};

export type ReplyOutcome = { readonly output: OutputItem[]; readonly fault: OutputFault | null };

export const itemIds = {
  message: (task_id: string) => `msg_${task_id}`,
  call: (task_id: string, index: number) => `fc_${index}_${task_id}`,
} as const;

/**
 * What a hub's reply comes to. A reply that is whole and yet no success is delivered as `failed`, and charged like any
 * other: the model did its work, and the same request would come to the same again. What is no reply at all fails before.
 */
export function outcomeOf({ choices: [{ message, finish_reason }] }: HubReply, task_id: string): ReplyOutcome {
  const fault = faultOf(finish_reason, message);
  const status: ItemStatus = fault || finish_reason === 'length' ? 'incomplete' : 'completed';
  return { output: outputOf(message, { task_id, status }), fault };
}

interface Made {
  readonly task_id: string;
  readonly status: ItemStatus;
  /** In which order it came; without it the message comes before its calls, and text before a refusal. */
  readonly began?: readonly Channel[];
}

export function outputOf(message: AssistantMessage, { task_id, status, began = [] }: Made): OutputItem[] {
  const first = (channels: readonly Channel[]) => {
    const places = channels.map(channel => began.indexOf(channel)).filter(place => place !== -1);
    return places.length === 0 ? -1 : Math.min(...places);
  };
  const content = partsOf(message).sort((one, other) => first([one.channel]) - first([other.channel]));
  const head = { id: itemIds.message(task_id), type: 'message' as const, role: 'assistant' as const, status };
  const parts = content.map(({ part }) => part);
  const items: { readonly channels: readonly Channel[]; readonly item: OutputItem }[] = [
    ...(parts.length === 0 ? [] : [{ channels: ['text', 'refusal'] as const, item: { ...head, content: parts } }]),
    ...callsOf(message, task_id, status).map((item, call) => ({ channels: [call], item })),
  ];
  return items.sort((one, other) => first(one.channels) - first(other.channels)).map(({ item }) => item);
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
    return { code: 'content_filter', message: 'The answer was withheld, or broken off, by a content filter.' };
  if (finish_reason === 'length' && !content && !refusal && !tool_calls)
    return { code: 'max_output_tokens', message: 'The tokens allowed were used up before anything was said.' };
  return null;
}

export function textOf(output: readonly OutputItem[]): string {
  const parts = output.flatMap(item => (item.type === 'message' ? item.content : []));
  return parts.map(part => (part.type === 'output_text' ? part.text : '')).join('');
}
