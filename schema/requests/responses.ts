import { z } from 'zod';
import { limits } from '../limits.ts';
import {
  flag,
  forwardedMembers,
  ModelId,
  ResponseFormat,
  requireOffered,
  samplingMembers,
  schemaMembers,
  Temperature,
  TokensMax,
} from './chat-completion.ts';
import { ChatRequestMessage, functionMembers, ToolChoice, ToolMode, Tools, toolOf, toolsOf } from './chat-message.ts';
import { intentMembers, svcMembers, withParent } from './paid-work.ts';
import { listOf, remembering, wellFormedText } from './parse.ts';
import { ResponseItems } from './response-input.ts';
import { only, responseWithoutEffect, unset, withoutEffect } from './unserved.ts';

/* As the Responses API spells them, without the inner object that a chat has, and as a chat spells them. */

const hosted = {
  error: ({ input }: { readonly input?: unknown }) =>
    `${String(input).slice(0, limits.tool_name_chars_max)} is not served here: tools are functions, and the caller runs them`,
};

const Tool = z.object({ type: z.literal('function', hosted), ...functionMembers }).transform(toolOf);
const ResponseTools = toolsOf(Tool);

const Named = z
  .object({ type: z.literal('function', hosted), name: wellFormedText })
  .transform(({ type, name }) => ({ type, function: { name } }));
const Allowed = z
  .object({
    type: z.literal('allowed_tools'),
    mode: z.enum(['auto', 'required']),
    tools: listOf(Named, limits.tools_max),
  })
  .transform(({ type, ...allowed_tools }) => ({ type, allowed_tools }));
const ResponseToolChoice = z.union([ToolMode, Named, Allowed]).nullish();

const Format = z.union([
  z
    .object({ type: z.literal('json_schema'), ...schemaMembers })
    .transform(({ type, ...json_schema }) => ({ type, json_schema })),
  ResponseFormat,
]);

const ResponseText = z
  .object({ format: Format, verbosity: only('it would mean something else at each hub', 'medium') })
  .nullish();

/* The body of POST /v1/responses. */

const ONE_SHOT = 'each call stands for itself, and nothing of it is kept';
const NO_REASONING = 'no reasoning is shown';

/** What would change the answer, and is not passed on: refused by name. */
export const responseUnserved = {
  background: only('the answer is waited for', false),
  previous_response_id: unset(ONE_SHOT),
  conversation: unset(ONE_SHOT),
  context_management: unset(ONE_SHOT),
  prompt: unset('a prompt is sent as text'),
  truncation: only('all of the input is read', 'disabled'),
  top_logprobs: only('the answer is text', 0),
} as const;

const common = {
  model: ModelId,
  max_output_tokens: TokensMax,
  temperature: Temperature,
  top_p: samplingMembers.top_p,
  parallel_tool_calls: z.boolean().nullish(),
  stream: flag.describe('Server-sent events, as OpenAI sends them; the last one carries the receipt.'),
  ...intentMembers,
  ...svcMembers,
} as const;

const sent = z.object({
  ...common,
  input: ResponseItems.describe('A text, or messages, calls and what came of them.'),
  instructions: wellFormedText.nullish().describe('The same as a first message of role `system`.'),
  tools: ResponseTools.describe('Functions that may be called.'),
  tool_choice: ResponseToolChoice,
  text: ResponseText,
  reasoning: z
    .object({
      effort: samplingMembers.reasoning_effort,
      summary: unset(NO_REASONING),
      generate_summary: unset(NO_REASONING),
    })
    .nullish(),
  include: z
    .array(
      wellFormedText.refine(name => !name.endsWith('logprobs'), { error: 'is not served here: the answer is text' }),
    )
    .nullish()
    .describe('What is not there is not included: there is neither reasoning nor a tool of a hub’s own.'),
  ...responseUnserved,
  ...withoutEffect(responseWithoutEffect),
});

const chat = z.object({
  ...common,
  input: listOf(ChatRequestMessage, limits.chat_messages_max),
  tools: Tools,
  tool_choice: ToolChoice,
  response_format: ResponseFormat,
  reasoning_effort: samplingMembers.reasoning_effort,
});

/** A response as the graph is asked for it, in the words of a chat: so a call has one canonical form whatever way it comes. */
export const ResponseCall = remembering(
  requireOffered(chat).transform(
    ({ model, input, max_output_tokens, temperature, stream, intent_id, attempt_index, svc, ...given }) => ({
      model,
      input,
      max_output_tokens,
      temperature,
      intent_id,
      attempt_index,
      ...withParent(given),
      ...forwardedMembers(given),
      ...(stream ? { stream } : {}),
      ...(svc === undefined ? {} : { svc }),
    }),
  ),
);
export type ResponseCall = z.output<typeof ResponseCall>;

/**
 * Body of POST /v1/responses, stateless. A text and one message of role `user` are the same request, and so are
 * `instructions` and a first message of role `system`.
 */
export const ResponsesRequest = sent.transform(({ input, instructions, text, reasoning, ...given }, context) => {
  const { data, error } = ResponseCall.safeParse({
    ...given,
    input: instructions == null ? input : [{ role: 'system', content: instructions }, ...input],
    response_format: text?.format,
    reasoning_effort: reasoning?.effort,
  });
  if (data) return data;
  for (const { message, path } of error.issues) context.addIssue({ code: 'custom', message, path });
  return z.NEVER;
});
