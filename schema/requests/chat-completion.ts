import { z } from 'zod';
import { type Json, type JsonObject, present } from '../canonical-json.ts';
import { limits } from '../limits.ts';
import { ChatMessage } from './chat-message.ts';
import { intentMembers } from './intent.ts';
import { listOf, wellFormedText } from './parse.ts';
import { canonicalFormat, ResponseFormat } from './response-format.ts';
import { canonicalSampling, type Sampling, samplingMembers } from './sampling.ts';
import { svcMembers } from './svc.ts';
import { canonicalTools, ToolChoice, type ToolMembers, Tools, unofferedChoice } from './tools.ts';
import { noItems, noMembers, only, PLAIN_TEXT, textModality, unset } from './unserved.ts';
import { chatWithoutEffect, withoutEffect } from './without-effect.ts';

const INT32_MAX = 2 ** 31 - 1;

export const ModelId = wellFormedText
  .max(limits.model_id_chars_max)
  .nullish()
  .transform(model => model ?? 'svc/auto')
  .describe('`svc/auto` is a live route.');

export const TokensMax = z.int().min(1).max(INT32_MAX).nullable().default(null);

export const Temperature = z.number().min(0).max(limits.temperature_max).nullable().default(null);

export const flag = z
  .boolean()
  .nullish()
  .transform(given => given ?? false);

const BY_TOOLS = 'what may be called stands in `tools`';
const HUBS_DIFFER = 'it would mean something else at each hub';

/** What would change the answer, and is not passed on: refused by name. */
export const chatUnserved = {
  functions: noItems(BY_TOOLS),
  function_call: only(BY_TOOLS, 'none', 'auto'),
  n: only('the price is that of one answer', 1),
  logprobs: only(PLAIN_TEXT, false),
  top_logprobs: only(PLAIN_TEXT, 0),
  logit_bias: noMembers(HUBS_DIFFER),
  modalities: textModality,
  audio: unset(PLAIN_TEXT),
  verbosity: only(HUBS_DIFFER, 'medium'),
  web_search_options: unset('nothing is searched for'),
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
  tools: Tools.describe('Functions that may be called.'),
  tool_choice: ToolChoice,
  parallel_tool_calls: z.boolean().nullish(),
  response_format: ResponseFormat,
  ...samplingMembers,
  ...intentMembers,
  ...svcMembers,
  ...chatUnserved,
  ...withoutEffect(chatWithoutEffect),
});

/** A choice can be made of what is offered alone. */
export function requireOffered<S extends z.ZodType<Parameters<typeof unofferedChoice>[0]>>(request: S) {
  return request.superRefine((given, context) => {
    const fault = unofferedChoice(given);
    if (fault) context.addIssue({ code: 'custom', path: ['tool_choice'], message: fault });
  });
}

/**
 * Body of POST /v1/chat/completions. Absent and null are the same, and so are both names of one member and every way to
 * say the usual, so that one call has one canonical form; what is not streamed has no options of a stream.
 */
export const ChatRequest = requireOffered(members).transform(
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
    ...asked(given),
    ...(given.svc ? { svc: given.svc } : {}),
    ...(stream ? { stream_options: { include_usage: given.stream_options?.include_usage ?? false } } : {}),
  }),
);
export type ChatRequest = z.output<typeof ChatRequest>;

/** What a hub is told as it stands, where it is said: members that a call without them does not have. */
export type Asked = {
  readonly tools?: readonly JsonObject[];
  readonly tool_choice?: Json;
  readonly parallel_tool_calls?: boolean;
  readonly response_format?: JsonObject;
  readonly top_p?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
  readonly presence_penalty?: number;
  readonly frequency_penalty?: number;
  readonly reasoning_effort?: string;
};

type AskedMembers = ToolMembers & Sampling & { readonly response_format?: ResponseFormat };

/** In one form each. */
export function asked({ response_format, ...given }: AskedMembers): Asked {
  const format = present({ response_format: canonicalFormat(response_format) });
  return { ...canonicalTools(given), ...format, ...canonicalSampling(given) };
}
