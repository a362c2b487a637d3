import { z } from 'zod';
import { limits } from '../limits.ts';
import { listOf, storedText, wellFormedText } from './parse.ts';

const INT32_MAX = 2 ** 31 - 1;

const ChatMessage = z.object({
  role: z.enum(['system', 'user', 'assistant']),
  content: wellFormedText,
});

export const IntentId = storedText
  .max(limits.intent_id_chars_max)
  .nullable()
  .default(null)
  .describe('Groups attempts under one treasury intent bill. Also header X-SVC-Intent.');

const flag = z
  .boolean()
  .nullish()
  .transform(given => given ?? false);

const members = z.object({
  model: wellFormedText
    .max(limits.model_id_chars_max)
    .nullish()
    .transform(model => model ?? 'svc/auto')
    .describe('`svc/auto` is a live route.'),
  messages: listOf(ChatMessage, limits.chat_messages_max),
  max_tokens: z.int().min(1).max(INT32_MAX).nullable().default(null),
  temperature: z.number().min(0).max(limits.temperature_max).nullable().default(null),
  stream: flag.describe('Server-sent events, as OpenAI sends them; the last one carries the receipt.'),
  stream_options: z
    .object({ include_usage: flag.describe('The last event says how many tokens were used.') })
    .nullish()
    .describe('Read where `stream` is true.'),
  intent_id: IntentId,
  attempt_index: z
    .int()
    .min(0)
    .max(INT32_MAX)
    .nullable()
    .default(null)
    .describe('Zero-based attempt within intent_id. Also header X-SVC-Attempt.'),
});

/**
 * Body of POST /v1/chat/completions. Absent and null are the same, so that one call has one canonical form; what is not
 * streamed has no options of a stream.
 */
export const ChatRequest = members.transform(({ stream_options, ...rest }) => ({
  ...rest,
  ...(rest.stream ? { stream_options: { include_usage: stream_options?.include_usage ?? false } } : {}),
}));
export type ChatRequest = z.output<typeof ChatRequest>;
