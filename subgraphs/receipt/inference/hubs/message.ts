import { z } from 'zod';
import { limits } from '../../../../schema/limits.ts';
import { wellFormedText } from '../../../../schema/requests/parse.ts';

const Name = wellFormedText.min(1).max(limits.tool_call_id_chars_max);

/** As hubs give it; some leave out the type, of which there is one. */
const Call = z
  .object({ id: Name, function: z.object({ name: Name, arguments: wellFormedText }) })
  .transform(({ id, function: called }) => ({ id, type: 'function' as const, function: called }));
export type Call = z.output<typeof Call>;

/** In the words of the wire: a receipt may commit to the canonical JSON of it. What is not there is left out. */
export type AssistantMessage = {
  readonly role: 'assistant';
  readonly content: string | null;
  readonly tool_calls?: readonly Call[];
  readonly refusal?: string;
};

/** As much of a hub's message as is passed on. */
export const HubMessage = z
  .object({
    role: z.literal('assistant'),
    content: wellFormedText.nullable().default(null),
    tool_calls: z.array(Call).max(limits.tool_calls_max).nullish(),
    refusal: wellFormedText.nullish(),
  })
  .transform(({ content, tool_calls, refusal }) => messageOf(content, tool_calls ?? [], refusal ?? ''));

export function messageOf(content: string | null, calls: readonly Call[], refusal: string): AssistantMessage {
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
