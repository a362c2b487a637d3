import { z } from 'zod';
import { limits } from '../limits.ts';
import { intentMembers } from './intent.ts';
import { listOf, wellFormedText } from './parse.ts';
import { svcMembers } from './svc.ts';
import { NO_TOOLS, noItems, only, PLAIN_TEXT, textFormat, textModality, unservedTools, unset } from './unserved.ts';

const INT32_MAX = 2 ** 31 - 1;

export const ChatMessage = z.object({
  role: z.enum(['system', 'user', 'assistant']),
  content: wellFormedText,
});

export const ModelId = wellFormedText
  .max(limits.model_id_chars_max)
  .nullish()
  .transform(model => model ?? 'svc/auto')
  .describe('`svc/auto` is a live route.');

export const TokensMax = z.int().min(1).max(INT32_MAX).nullable().default(null);

export const Temperature = z.number().min(0).max(limits.temperature_max).nullable().default(null);

const flag = z
  .boolean()
  .nullish()
  .transform(given => given ?? false);

const unserved = {
  ...unservedTools,
  functions: noItems(NO_TOOLS),
  function_call: only(NO_TOOLS, 'none', 'auto'),
  response_format: textFormat,
  n: only('the price is that of one answer', 1),
  logprobs: only(PLAIN_TEXT, false),
  modalities: textModality,
  audio: unset(PLAIN_TEXT),
} as const;

const members = z.object({
  model: ModelId,
  messages: listOf(ChatMessage, limits.chat_messages_max),
  max_tokens: TokensMax,
  max_completion_tokens: TokensMax.describe('The newer name of `max_tokens`, read where that is absent.'),
  temperature: Temperature,
  stream: flag.describe('Server-sent events, as OpenAI sends them; the last one carries the receipt.'),
  stream_options: z
    .object({ include_usage: flag.describe('The last event says how many tokens were used.') })
    .nullish()
    .describe('Read where `stream` is true.'),
  ...intentMembers,
  ...svcMembers,
  ...unserved,
});

/**
 * Body of POST /v1/chat/completions. Absent and null are the same, and so are both names of one member, so that one call
 * has one canonical form; what is not streamed has no options of a stream.
 */
export const ChatRequest = members.transform(
  ({
    model,
    messages,
    max_tokens,
    max_completion_tokens,
    temperature,
    stream,
    intent_id,
    attempt_index,
    ...given
  }) => ({
    model,
    messages,
    max_tokens: max_tokens ?? max_completion_tokens,
    temperature,
    stream,
    intent_id,
    attempt_index,
    ...(given.svc ? { svc: given.svc } : {}),
    ...(stream ? { stream_options: { include_usage: given.stream_options?.include_usage ?? false } } : {}),
  }),
);
export type ChatRequest = z.output<typeof ChatRequest>;
