import { z } from 'zod';
import { type JsonObject, present } from '../canonical-json.ts';
import { limits } from '../limits.ts';
import {
  chatMemberRule,
  flag,
  forwardedMembers,
  ResponseFormat,
  requireOffered,
  samplingMembers,
  schemaMembers,
  Temperature,
  TokensMax,
  tokenLimitOf,
} from './chat-completion.ts';
import {
  ALLOWED_MODE,
  ChatMessages,
  functionMembers,
  ParallelToolCalls,
  ToolChoice,
  ToolMode,
  Tools,
  toolsOf,
} from './chat-message.ts';
import { Extra, extraOf, foldName, withoutProto } from './forwarded/extra.ts';
import { bodyPlace, openPlace } from './forwarded/foreign-members.ts';
import { intentMembers, ModelId, svcMembers, withParent } from './paid-work.ts';
import { keepMaker, listOf } from './parse.ts';
import { ResponseItems } from './response-input.ts';
import { wellFormedText } from './text.ts';
import { only, responseWithoutEffect, unset, usualTier, withoutEffect } from './unsupported-members.ts';

/* The body of POST /v1/responses. */

const hosted = {
  error: ({ input }: { readonly input?: unknown }) =>
    `${JSON.stringify(String(input).slice(0, limits.tool_name_chars_max))} is not supported: tools are functions, and the caller runs them`,
};

/** Tools in the form of the Responses API, which are translated to the form of a chat. */
const toolPlace = openPlace(['type', ...Object.keys(functionMembers)]);
const Tool = z
  .looseObject({ type: z.literal('function', hosted), ...functionMembers })
  .transform((given, context): JsonObject => {
    const { name, description, parameters, strict } = given;
    const extra = extraOf(given as JsonObject, toolPlace, context);
    return { ...extra, type: 'function', function: present({ name, description, parameters, strict }) };
  });
const ResponseTools = toolsOf(Tool);

const namedPlace = openPlace(['type', 'name']);
const Named = z
  .looseObject({ type: z.literal('function', hosted), name: wellFormedText.describe('Name of the tool.') })
  .transform((given, context) => {
    const { type, name } = given;
    return { ...extraOf(given as JsonObject, namedPlace, context), type, function: { name } };
  });
const allowedPlace = openPlace(['type', 'mode', 'tools']);
const Allowed = z
  .looseObject({
    type: z.literal('allowed_tools'),
    mode: z.enum(['auto', 'required']).describe(ALLOWED_MODE),
    tools: listOf(Named, limits.tools_max).describe('Tools that the model may call.'),
  })
  .transform((given, context) => {
    const { type, mode, tools } = given;
    return { ...extraOf(given as JsonObject, allowedPlace, context), type, allowed_tools: { mode, tools } };
  });
const ResponseToolChoice = z.union([ToolMode, Named, Allowed]).nullish();

const formatPlace = openPlace(['type', ...Object.keys(schemaMembers)]);
const Format = z.union([
  z.looseObject({ type: z.literal('json_schema'), ...schemaMembers }).transform((given, context) => {
    const { type, name, description, schema, strict } = given;
    const extra = extraOf(given as JsonObject, formatPlace, context);
    return { type, json_schema: { ...extra, ...present({ name, description, schema, strict }) } };
  }),
  ResponseFormat,
]);

const ResponseText = z
  .looseObject({
    format: Format.describe(
      'Format of the answer: text, any JSON object, or JSON that matches a schema. Default: text.',
    ),
    verbosity: only('hubs treat it differently', 'medium'),
  })
  .superRefine(({ format: _, verbosity: __, ...others }, context) => {
    for (const [name, value] of Object.entries(others)) {
      if (value !== null && value !== undefined)
        context.addIssue({
          code: 'custom',
          path: [name],
          message: 'is not supported: hubs receive a chat, which has no such member',
        });
    }
  })
  .nullish();

const ONE_SHOT = 'calls are independent and nothing of them is stored, so send the earlier turns as `input`';
const AS_IT_IS = 'Without effect: the reasoning of the model is returned as the hub gives it, and is not summarized.';

/** Members that would change the answer and are not passed on; refused by name. */
export const responseUnserved = {
  background: only('the response is returned when it is complete', false),
  previous_response_id: unset(ONE_SHOT),
  conversation: unset(ONE_SHOT),
  context_management: unset('the caller decides which turns are sent'),
  prompt: unset('send the prompt as `input`'),
  truncation: only('all of the input is read', 'disabled'),
  top_logprobs: only('the answer is text', 0),
  service_tier: usualTier,
} as const;

const common = {
  model: ModelId,
  max_output_tokens: TokensMax,
  temperature: Temperature,
  top_p: samplingMembers.top_p,
  parallel_tool_calls: ParallelToolCalls,
  stream: flag.describe(
    'If true, the answer is sent as server-sent events in the form of OpenAI, and the last event carries the receipt. Default: false. On the graph, responseStream always streams, whatever this value is.',
  ),
  ...intentMembers,
  ...svcMembers,
} as const;

const ENCRYPTED = 'reasoning.encrypted_content';
const Include = z
  .array(wellFormedText.refine(name => !name.endsWith('logprobs'), { error: 'is not supported: the answer is text' }))
  .nullish()
  .describe(
    `\`${ENCRYPTED}\`: the reasoning of the model is also returned in \`encrypted_content\`, to be sent back unchanged. A value that ends with \`logprobs\` is refused; all others are without effect. Default: none.`,
  );

const reasoningPlace = openPlace(['effort', 'summary', 'generate_summary']);

const LIMIT_ALIAS = 'Another name of `max_output_tokens`. If both are given, they must be equal.';

const responseBody = z.looseObject({
  ...common,
  max_tokens: TokensMax.describe(LIMIT_ALIAS),
  max_completion_tokens: TokensMax.describe(LIMIT_ALIAS),
  input: ResponseItems.describe('Input of the model: a text, or a list of messages, calls and results of calls.'),
  instructions: wellFormedText
    .nullish()
    .describe('Instructions to the model. Equivalent to a first message of role `system`. Default: none.'),
  tools: ResponseTools.describe(
    'Functions that the model may call, each `{type: "function", name, description, parameters}`. Default: none.',
  ),
  tool_choice: ResponseToolChoice.describe(
    'How the model chooses tools: `none`, `auto`, `required`, `{type: "function", name}`, or `{type: "allowed_tools", mode, tools}`. Default: `auto`.',
  ),
  text: ResponseText.describe(
    'Format of the answer: `{format: {type}}` with type `text` or `json_object`, or `{format: {type: "json_schema", name, schema}}`. Default: text.',
  ),
  reasoning: z
    .looseObject({
      effort: samplingMembers.reasoning_effort,
      summary: z.unknown().optional().describe(AS_IT_IS),
      generate_summary: z.unknown().optional().describe(AS_IT_IS),
    })
    .transform((given, context) => ({
      effort: given.effort,
      extra: extraOf(given as JsonObject, reasoningPlace, context),
    }))
    .nullish()
    .describe(
      'Options of reasoning: `{effort}` with `none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`. `summary` is without effect; unknown members are passed on as the member `reasoning` of a chat. Default: none.',
    ),
  include: Include,
  ...responseUnserved,
  ...withoutEffect(responseWithoutEffect),
  extra: Extra,
});

const chat = z.looseObject({
  ...common,
  input: ChatMessages,
  tools: Tools,
  tool_choice: ToolChoice,
  response_format: ResponseFormat,
  reasoning_effort: samplingMembers.reasoning_effort,
  include: Include,
  extra: Extra,
});

/** Members of a chat that a response has no equivalent of. */
const chatRule = chatMemberRule('response', ['stop', 'seed', 'presence_penalty', 'frequency_penalty']);

const ineffective = Object.keys(responseWithoutEffect);
const responsePlace = bodyPlace(Object.keys(responseBody.shape), ineffective, chatRule);
const bodyNames = new Map(Object.keys(responseBody.shape).map(name => [foldName(name), name]));
/** The request on the graph, which has the members of a chat. */
const chatPlace = bodyPlace(Object.keys(chat.shape), ineffective, given => {
  const member = bodyNames.get(given.folded_name);
  if (member === undefined || member === 'reasoning') return chatRule(given);
  return { kind: 'refused', why: `is not supported: use the members of the input in place of ${member}` };
});

/** The request on the graph, in the form of a chat, so that a call by REST and by GraphQL has one canonical form. */
export const ResponseCall = z.preprocess(withoutProto, requireOffered(chat).transform(canonicalCall));
export type ResponseCall = z.output<typeof ResponseCall>;

function canonicalCall(body: z.output<typeof chat>, context: z.core.$RefinementCtx) {
  const { model, input, max_output_tokens, temperature, stream, intent_id, attempt_index, svc, include, ...given } =
    body;
  const extra = extraOf(body as JsonObject, chatPlace, context);
  return {
    model,
    input,
    max_output_tokens,
    temperature,
    intent_id,
    attempt_index,
    ...withParent(given),
    ...forwardedMembers(given),
    ...(include?.includes(ENCRYPTED) ? { include: [ENCRYPTED] } : {}),
    ...(stream ? { stream } : {}),
    ...(svc === undefined ? {} : { svc }),
    ...(extra ? { extra } : {}),
  };
}

/**
 * Body of POST /v1/responses, stateless. A text and one message of role `user` are the same request, and so are
 * `instructions` and a first message of role `system`.
 */
export const ResponsesRequest = z.preprocess(
  withoutProto,
  responseBody.transform((body, context) => {
    const { input, instructions, text, reasoning, tools, tool_choice, parallel_tool_calls, include, ...given } = body;
    const beside = extraOf(body as JsonObject, responsePlace, context);
    const { max_tokens, max_completion_tokens } = given;
    const max_output_tokens = tokenLimitOf(given.max_output_tokens, { max_tokens, max_completion_tokens }, context);
    const { model, temperature, top_p, stream, intent_id, attempt_index, parent_ref, svc } = given;
    const { data, error } = ResponseCall.safeParse({
      ...{ model, max_output_tokens, temperature, top_p, stream, intent_id, attempt_index, parent_ref, svc },
      ...{ tools, tool_choice, parallel_tool_calls, include },
      input: instructions == null ? input : [{ role: 'system', content: instructions }, ...input],
      response_format: text?.format,
      reasoning_effort: reasoning?.effort,
      extra: reasoning?.extra ? { ...beside, reasoning: reasoning.extra } : beside,
    });
    if (data) {
      keepMaker(data, ResponseCall);
      return data;
    }
    for (const { message, path } of error.issues) context.addIssue({ code: 'custom', message, path });
    return z.NEVER;
  }),
);
