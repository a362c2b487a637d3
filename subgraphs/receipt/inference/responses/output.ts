import type { AssistantMessage } from '../hubs/message.ts';
import type { HubReply } from './reply.ts';

type ItemStatus = 'completed' | 'incomplete';

/** In the words of the wire: a receipt commits to the canonical JSON of the list of them. */
export type MessageItem = {
  readonly id: string;
  readonly type: 'message';
  readonly role: 'assistant';
  readonly status: ItemStatus;
  readonly content: readonly (SaidPart | RefusedPart)[];
};
type SaidPart = { readonly type: 'output_text'; readonly text: string; readonly annotations: never[] };
type RefusedPart = { readonly type: 'refusal'; readonly refusal: string };
export type CallItem = {
  readonly id: string;
  readonly type: 'function_call';
  readonly status: ItemStatus;
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
};
export type OutputItem = MessageItem | CallItem;

export type Fault = { readonly code: 'content_filter' | 'max_output_tokens'; readonly message: string };

export type Outcome = { readonly output: OutputItem[]; readonly fault: Fault | null };

/**
 * What a hub's reply comes to. A reply that is whole and yet no success is delivered as `failed`, and charged like any
 * other: the model did its work, and the same request would come to the same again. What is no reply at all fails before.
 */
export function outcomeOf({ choices: [{ message, finish_reason }] }: HubReply, task_id: string): Outcome {
  const { tool_calls = [] } = message;
  const content = partsOf(message);
  const fault = faultOf(finish_reason, Boolean(message.content || message.refusal), tool_calls.length > 0);
  const status: ItemStatus = fault || finish_reason === 'length' ? 'incomplete' : 'completed';
  const said: MessageItem = {
    id: `msg_${task_id}`,
    type: 'message',
    role: 'assistant',
    status,
    content,
  };
  const calls = tool_calls.map(
    (call, index): CallItem => ({
      id: `fc_${index}_${task_id}`,
      type: 'function_call',
      status,
      call_id: call.id,
      name: call.function.name,
      arguments: call.function.arguments,
    }),
  );
  return { output: content.length === 0 ? calls : [said, ...calls], fault };
}

function partsOf({ content, refusal }: AssistantMessage): (SaidPart | RefusedPart)[] {
  return [
    ...(content === null ? [] : [{ type: 'output_text' as const, text: content, annotations: [] }]),
    ...(refusal === undefined ? [] : [{ type: 'refusal' as const, refusal }]),
  ];
}

function faultOf(finish_reason: string | null, speaks: boolean, calls: boolean): Fault | null {
  if (finish_reason === 'content_filter')
    return { code: 'content_filter', message: 'The answer was withheld, or broken off, by a content filter.' };
  if (finish_reason === 'length' && !speaks && !calls)
    return { code: 'max_output_tokens', message: 'The tokens allowed were used up before anything was said.' };
  return null;
}

export function textOf(output: readonly OutputItem[]): string {
  const parts = output.flatMap(item => (item.type === 'message' ? item.content : []));
  return parts.map(part => (part.type === 'output_text' ? part.text : '')).join('');
}
