import { z } from 'zod';
import { type Json, type JsonObject, present } from '../canonical-json.ts';
import { INT_MAX, limits } from '../limits.ts';
import { restOnly } from '../noun.ts';
import {
  ChatMessages,
  canonicalTools,
  ParallelToolCalls,
  Schema,
  ToolChoice,
  type ToolMembers,
  Tools,
  unofferedChoice,
} from './chat-message.ts';
import {
  Extra,
  extraOf,
  FORWARDED,
  folded,
  type GivenMember,
  inlined,
  type MemberRule,
  withoutProto,
} from './forwarded/extra.ts';
import { bodyPlace, openPlace } from './forwarded/foreign-members.ts';
import { intentMembers, ModelId, svcMembers, withParent } from './paid-work.ts';
import { wellFormedText } from './text.ts';
import {
  chatWithoutEffect,
  noItems,
  noMembers,
  only,
  PLAIN_TEXT,
  textModality,
  unset,
  usualTier,
  withoutEffect,
} from './unserved.ts';

const penalty = z.number().min(-limits.penalty_max).max(limits.penalty_max).nullish();
const HUB_DEFAULT = 'Default: the hub decides.';
const Stop = wellFormedText.min(1).max(limits.stop_text_chars_max);

const TopP = z
  .number()
  .min(0)
  .max(1)
  .nullish()
  .describe(`Nucleus sampling: cumulative probability of the tokens considered, 0 to 1. ${HUB_DEFAULT}`);
const Effort = z
  .enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])
  .nullish()
  .describe(
    'Reasoning effort. Passed on to a model that its hub lists as a reasoning model. Without effect for any other model.',
  );

/** How an answer is drawn, beside `temperature`: said to the hub as it is, and left out where nothing is said. */
export const samplingMembers = {
  top_p: TopP,
  stop: z
    .union([Stop.transform(text => [text]), z.array(Stop).min(1).max(limits.stop_texts_max)])
    .nullish()
    .meta({ argument: z.array(z.string()).nullish() })
    .describe('Up to four texts before which the answer ends. By REST one text may be sent without a list.'),
  seed: z
    .int()
    .nullish()
    .meta({ scalar: 'SafeInt' })
    .describe('Seed of the sampling. The same seed gives similar answers, if the hub supports it. Default: none.'),
  presence_penalty: penalty.describe(
    `Presence penalty, -${limits.penalty_max} to ${limits.penalty_max}: a value above 0 makes tokens less likely that the text already contains. ${HUB_DEFAULT}`,
  ),
  frequency_penalty: penalty.describe(
    `Frequency penalty, -${limits.penalty_max} to ${limits.penalty_max}: a value above 0 makes tokens less likely the more often the text contains them. ${HUB_DEFAULT}`,
  ),
  reasoning_effort: Effort,
} as const;

export type Sampling = { readonly [M in keyof typeof samplingMembers]?: z.output<(typeof samplingMembers)[M]> };

/** A schema that the answer is to fit, as both of OpenAI's spellings have it. */
export const schemaMembers = {
  name: wellFormedText.min(1).max(limits.tool_name_chars_max),
  description: wellFormedText.max(limits.tool_description_chars_max).nullish(),
  schema: Schema.nullish().describe('A JSON Schema, passed on as it is.'),
  strict: z.boolean().nullish(),
} as const;

const SERVED = 'is not supported: an answer is text, json_object or json_schema';
const formatPlace = openPlace(['type', 'json_schema']);
export const schemaPlace = openPlace(Object.keys(schemaMembers));

/** As what the answer is asked for. */
export const ResponseFormat = z
  .discriminatedUnion(
    'type',
    [
      z
        .looseObject({ type: z.enum(['text', 'json_object']) })
        .transform((given, context) => inlined(given as JsonObject, formatPlace, context)),
      z.looseObject({ type: z.literal('json_schema'), json_schema: z.looseObject(schemaMembers) }).transform(
        (given, context): JsonObject => ({
          ...inlined(given as JsonObject, formatPlace, context),
          json_schema: inlined(given.json_schema as JsonObject, schemaPlace, context, ['json_schema']),
        }),
      ),
    ],
    { error: SERVED },
  )
  .nullish()
  .meta({ scalar: 'JSONObject' })
  .describe(
    'Format of the answer: `{type: "text"}`, `{type: "json_object"}` or `{type: "json_schema", json_schema: {…}}`. Default: text.',
  );
export type ResponseFormat = z.output<typeof ResponseFormat>;

/** In one form, as hubs are asked for it: text is what is given anyway. */
function canonicalFormat(format: ResponseFormat): JsonObject | null {
  const is_usual = !format || (format.type === 'text' && Object.keys(format).length === 1);
  return is_usual ? null : format;
}

/* The body of POST /v1/chat/completions. */

export const TokensMax = z
  .int()
  .min(1)
  .max(INT_MAX)
  .nullable()
  .default(null)
  .describe(`Maximum number of tokens of the answer, from 1. ${HUB_DEFAULT}`);

/**
 * The limit on the tokens of an answer. OpenAI's bodies call it by several names; here each is read by both doors, so that no name is
 * passed on as one that nobody knows.
 * @returns `own`, or what another name says; one that says something else is an issue of its own
 */
export function tokenLimitOf(
  own: number | null,
  others: Readonly<Record<string, number | null>>,
  context: z.core.$RefinementCtx,
): number | null {
  let limit = own;
  for (const [name, value] of Object.entries(others)) {
    if (value !== null && limit !== null && value !== limit)
      context.addIssue({
        code: 'custom',
        path: [name],
        message: 'differs from another limit on the tokens of the answer',
      });
    limit ??= value;
  }
  return limit;
}

export const Temperature = z
  .number()
  .min(0)
  .max(limits.temperature_max)
  .nullable()
  .default(null)
  .describe(
    `Sampling temperature, 0 to ${limits.temperature_max}: a higher value makes the answer more random. ${HUB_DEFAULT}`,
  );

export const flag = z
  .boolean()
  .nullish()
  .transform(given => given ?? false);

const BY_TOOLS = 'use `tools`';
const HUBS_DIFFER = 'hubs treat it differently';

/** What would change the answer, and is not passed on: refused by name. */
export const chatUnserved = {
  functions: noItems(BY_TOOLS),
  function_call: only(BY_TOOLS, 'none', 'auto'),
  n: only('the price is for one answer, so send the call n times', 1),
  logprobs: only(PLAIN_TEXT, false),
  top_logprobs: only(PLAIN_TEXT, 0),
  logit_bias: noMembers(HUBS_DIFFER),
  modalities: textModality,
  audio: unset(PLAIN_TEXT),
  verbosity: only(HUBS_DIFFER, 'medium'),
  service_tier: usualTier,
  web_search_options: unset('no web search is made'),
} as const;

/** This service asks the hub and cuts the stream in one way, so there are no other options. */
export const ChatStreamOptions = z
  .looseObject({
    include_usage: flag.describe('If true, the last event states the numbers of tokens. Default: false.'),
    ...withoutEffect({ include_obfuscation: 'events are not padded' }),
  })
  .superRefine(({ include_usage: _, include_obfuscation: __, ...others }, context) => {
    for (const [name, value] of Object.entries(others)) {
      if (value !== null)
        context.addIssue({
          code: 'custom',
          path: [name],
          message: 'is not supported: a stream has no such option',
        });
    }
  });

const members = z.looseObject({
  model: ModelId,
  messages: ChatMessages,
  max_tokens: TokensMax,
  ...restOnly({
    max_completion_tokens: TokensMax.describe('Newer name of `max_tokens`. Used if `max_tokens` is absent.'),
    max_output_tokens: TokensMax.describe('Another name of `max_tokens`. If both are given, they must be equal.'),
  }),
  temperature: Temperature,
  stream: flag
    .meta({ argument: z.boolean().default(false) })
    .describe(
      'If true, the answer is sent as server-sent events in the form of OpenAI, and the last event carries the receipt. Default: false. On the graph, chatCompletionStream always streams, whatever this value is.',
    ),
  stream_options: ChatStreamOptions.nullish().describe(
    'Options of a streamed answer. Without effect if the answer is not streamed.',
  ),
  tools: Tools,
  tool_choice: ToolChoice,
  parallel_tool_calls: ParallelToolCalls,
  response_format: ResponseFormat,
  ...samplingMembers,
  ...intentMembers,
  ...svcMembers,
  ...restOnly(chatUnserved),
  ...withoutEffect(chatWithoutEffect),
  extra: Extra,
});

/** All that a chat knows, by name: what else a body holds is passed on. */
export const chatMembers: ReadonlySet<string> = new Set(Object.keys(members.shape));

const chatNames = new Map([...chatMembers].map(name => [folded(name), name]));

const chatPlace = bodyPlace(chatMembers, Object.keys(chatWithoutEffect), () => FORWARDED);

/**
 * What becomes of a chat's member in the body of another request that hubs are asked for as a chat. Passed on, what that request says in its
 * own way would be said twice. `forwarded`: what a chat takes under the same name, and the request has no word for.
 */
export function chatMemberRule(noun: string, forwarded: readonly string[]) {
  return ({ name, spelt, value }: GivenMember): MemberRule => {
    const member = chatNames.get(spelt);
    if (member === undefined || forwarded.includes(name)) return FORWARDED;
    if (isUnserved(member)) {
      // A chat does not take it either: whoever sends it is told why, and not sent there.
      const { error } = chatUnserved[member].safeParse(value);
      return error ? { kind: 'refused', why: error.issues[0]?.message ?? '' } : { kind: 'without_effect' };
    }
    return { kind: 'refused', why: `is not supported: ${member} is a member of a chat, not of a ${noun}` };
  };
}

const isUnserved = (name: string): name is keyof typeof chatUnserved => Object.hasOwn(chatUnserved, name);

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
export const ChatRequest = z.preprocess(withoutProto, requireOffered(members).transform(canonicalChat));
export type ChatRequest = z.output<typeof ChatRequest>;

function canonicalChat(body: z.output<typeof members>, context: z.core.$RefinementCtx) {
  const {
    model,
    messages,
    max_tokens,
    max_completion_tokens,
    max_output_tokens,
    temperature,
    stream,
    intent_id,
    attempt_index,
    ...given
  } = body;
  const extra = extraOf(body as JsonObject, chatPlace, context);
  return {
    model,
    messages,
    max_tokens: tokenLimitOf(max_tokens ?? max_completion_tokens, { max_output_tokens }, context),
    temperature,
    stream,
    intent_id,
    attempt_index,
    ...withParent(given),
    ...forwardedMembers(given),
    ...(given.svc ? { svc: given.svc } : {}),
    ...(stream ? { stream_options: { include_usage: given.stream_options?.include_usage ?? false } } : {}),
    ...(extra ? { extra } : {}),
  };
}

/** What a hub is told as it stands, where it is said: members that a call without them does not have. */
export type ForwardedMembers = {
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
  /** What nobody here knows, as it came. */
  readonly extra?: JsonObject;
};

type AskedMembers = ToolMembers & Sampling & { readonly response_format?: ResponseFormat };

/** In one form each. */
export function forwardedMembers(given: AskedMembers): ForwardedMembers {
  const { top_p, stop, seed, presence_penalty, frequency_penalty, reasoning_effort } = given;
  const response_format = canonicalFormat(given.response_format);
  const sampling = { top_p, stop, seed, presence_penalty, frequency_penalty, reasoning_effort };
  return { ...canonicalTools(given), ...present({ response_format, ...sampling }) };
}
