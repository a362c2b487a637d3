import { z } from 'zod';
import { limits } from '../limits.ts';
import { wellFormedText } from './parse.ts';

const INT32_MAX = 2 ** 31 - 1;

const ChatMessage = z.object({
  role: z.enum(['system', 'user', 'assistant']),
  content: wellFormedText,
});

/** Body of POST /v1/chat/completions. Absent and null are the same, so that one call has one canonical form. */
export const ChatRequest = z.object({
  model: wellFormedText
    .max(limits.model_id_chars_max)
    .nullish()
    .transform(model => model ?? 'svc/auto')
    .describe('`svc/auto` is a live route.'),
  messages: z.array(ChatMessage).min(1),
  max_tokens: z.int().min(1).max(INT32_MAX).nullable().default(null),
  temperature: z.number().min(0).max(limits.temperature_max).nullable().default(null),
  stream: z
    .boolean()
    .nullish()
    .transform(stream => stream ?? false),
  intent_id: wellFormedText
    .max(limits.intent_id_chars_max)
    .nullable()
    .default(null)
    .describe('Groups attempts under one treasury intent bill. Also header X-SVC-Intent.'),
  attempt_index: z
    .int()
    .min(0)
    .max(INT32_MAX)
    .nullable()
    .default(null)
    .describe('Zero-based attempt within intent_id. Also header X-SVC-Attempt.'),
});
export type ChatRequest = z.output<typeof ChatRequest>;
