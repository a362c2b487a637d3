import { z } from 'zod';
import { wellFormedText } from '../../../../schema/requests/parse.ts';
import { chatQuestion, type HubRequest } from '../hubs/chat.ts';
import { Usage } from '../hubs/completion.ts';
import { readJsonAs } from '../hubs/json.ts';
import type { Question } from '../hubs/question.ts';

const CALLS_MAX = 16;
const NAME_CHARS_MAX = 256;

const Call = z.object({
  id: wellFormedText.max(NAME_CHARS_MAX),
  function: z.object({ name: wellFormedText.max(NAME_CHARS_MAX), arguments: wellFormedText }),
});

const Choice = z
  .object({
    message: z.object({
      role: z.literal('assistant'),
      content: wellFormedText.nullable().default(null),
      tool_calls: z.array(Call).max(CALLS_MAX).nullable().default(null),
    }),
    finish_reason: wellFormedText.max(64).nullable().default(null),
  })
  .refine(({ message, finish_reason }) => {
    const says = message.content !== null || (message.tool_calls?.length ?? 0) > 0;
    return says || finish_reason === 'content_filter' || finish_reason === 'length';
  });

/**
 * A chat completion as a response reads it: what it calls counts beside what it says. One that says and calls nothing is
 * no answer, and nothing is charged for it, unless it says why.
 */
export const HubReply = z.object({ choices: z.tuple([Choice], z.unknown()), usage: Usage.nullable().default(null) });
export type HubReply = z.output<typeof HubReply>;

export function replyQuestion(request: HubRequest): Question<HubReply> {
  return { ...chatQuestion(request), read: bytes => readJsonAs(HubReply, bytes) };
}
