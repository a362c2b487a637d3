import { z } from 'zod';
import { chatQuestion, type HubRequest } from '../hubs/chat.ts';
import { FinishReason, Usage } from '../hubs/completion.ts';
import { readJsonAs } from '../hubs/json.ts';
import { HubMessage, says } from '../hubs/message.ts';
import type { Question } from '../hubs/question.ts';

const Choice = z
  .object({ message: HubMessage, finish_reason: FinishReason })
  .refine(
    ({ message, finish_reason }) => says(message) || finish_reason === 'content_filter' || finish_reason === 'length',
  );

/**
 * A chat completion as a response reads it. One that says and calls nothing is no answer, and nothing is charged for it,
 * unless it says why.
 */
export const HubReply = z.object({ choices: z.tuple([Choice], z.unknown()), usage: Usage.nullable().default(null) });
export type HubReply = z.output<typeof HubReply>;

export function replyQuestion(request: HubRequest): Question<HubReply> {
  return { ...chatQuestion(request), read: bytes => readJsonAs(HubReply, bytes) };
}
