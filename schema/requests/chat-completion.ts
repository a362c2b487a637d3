import { z } from 'zod';
import { type Json, type JsonObject, present } from '../canonical-json.ts';
import { INT_MAX, limits } from '../limits.ts';
import { restOnly } from '../noun.ts';
import {
  ChatMessages,
  canonicalTools,
  ParallelToolCalls,
  Schema,
  Strict,
  ToolChoice,
  type ToolMembers,
  Tools,
  unofferedChoice,
} from './chat-message.ts';
import {
  Extra,
  extraOf,
  FORWARDED,
  foldName,
  type GivenMember,
  inlineExtra,
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
} from './unsupported-members.ts';

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
    'Reasoning effort: `none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`. Without effect unless the hub lists the model as a reasoning model. Default: the hub decides.',
  );

/** Sampling of the answer, except `temperature`. Passed on to the hub unchanged; left out if absent. */
export const samplingMembers = {
  top_p: TopP,
  stop: z
    .union([Stop.transform(text => [text]), z.array(Stop).min(1).max(limits.stop_texts_max)])
    .nullish()
    .meta({ argument: z.array(z.string()).nullish() })
    .describe(
      `One to four texts of up to ${limits.stop_text_chars_max} characters before which the answer ends. Except on the graph, one text needs no list. Default: none.`,
    ),
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

/** A schema that the answer must match, in both forms of OpenAI. */
export const schemaMembers = {
  name: wellFormedText.min(1).max(limits.tool_name_chars_max).describe('Name of the schema, chosen by the caller.'),
  description: wellFormedText
    .max(limits.tool_description_chars_max)
    .nullish()
    .describe('Description of the schema, for the model. Default: none.'),
  schema: Schema.nullish().describe('JSON Schema that the answer must match, passed on unchanged. Default: none.'),
  strict: Strict,
} as const;

const SERVED = 'is not supported: an answer is text, json_object or json_schema';
const formatPlace = openPlace(['type', 'json_schema']);
export const schemaPlace = openPlace(Object.keys(schemaMembers));

/** Format of the answer. */
export const ResponseFormat = z
  .discriminatedUnion(
    'type',
    [
      z
        .looseObject({
          type: z
            .enum(['text', 'json_object'])
            .describe('Format of the answer: `text`, or `json_object` for any JSON object.'),
        })
        .transform((given, context) => inlineExtra(given as JsonObject, formatPlace, context)),
      z
        .looseObject({
          type: z.literal('json_schema'),
          json_schema: z.looseObject(schemaMembers).describe('JSON Schema of the answer, with its name.'),
        })
        .transform(
          (given, context): JsonObject => ({
            ...inlineExtra(given as JsonObject, formatPlace, context),
            json_schema: inlineExtra(given.json_schema as JsonObject, schemaPlace, context, ['json_schema']),
          }),
        ),
    ],
    { error: SERVED },
  )
  .nullish()
  .meta({ scalar: 'JSONObject' })
  .describe(
    'Format of the answer: `{type: "text"}`, `{type: "json_object"}` or `{type: "json_schema", json_schema: {name, schema}}`. Default: text.',
  );
export type ResponseFormat = z.output<typeof ResponseFormat>;

/** Canonical form: `text`, the default, is left out. */
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
 * The limit on the tokens of an answer. OpenAI has several names for it; chats and responses accept all of them, so that none is passed
 * on as an unknown member.
 * @returns `own`, or the value of another name; values that differ are refused
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
        message: 'differs from another member that limits the tokens of the answer: send one of them',
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

/** Members that would change the answer and are not passed on; refused by name. */
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

/** Only the usage is optional, because this service cuts every stream in the same way. */
export const ChatStreamOptions = z
  .looseObject({
    include_usage: flag.describe(
      'If true, the numbers of tokens have a last event of their own, without choices. Default: false.',
    ),
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
    'Options of a streamed answer: with `{include_usage: true}`, an event without choices has the numbers of tokens. Without effect if the answer is not streamed. Default: none.',
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

/** The names of a chat's members; all other members of a body are passed on. */
export const chatMembers: ReadonlySet<string> = new Set(Object.keys(members.shape));

const chatNames = new Map([...chatMembers].map(name => [foldName(name), name]));

const chatPlace = bodyPlace(chatMembers, Object.keys(chatWithoutEffect), () => FORWARDED);

/**
 * The rule for a member of a chat in another request that is translated to a chat. If it were passed on, the chat could have the same fact
 * twice. `forwarded`: members of a chat that the request has no equivalent of.
 */
export function chatMemberRule(noun: string, forwarded: readonly string[]) {
  return ({ name, folded_name, value }: GivenMember): MemberRule => {
    const member = chatNames.get(folded_name);
    if (member === undefined || forwarded.includes(name)) return FORWARDED;
    if (isUnserved(member)) {
      // A chat refuses it too, so the refusal gives the reason instead of naming a chat.
      const { error } = chatUnserved[member].safeParse(value);
      return error ? { kind: 'refused', why: error.issues[0]?.message ?? '' } : { kind: 'without_effect' };
    }
    return { kind: 'refused', why: `is not supported: ${member} is a member of a chat, not of a ${noun}` };
  };
}

const isUnserved = (name: string): name is keyof typeof chatUnserved => Object.hasOwn(chatUnserved, name);

/** A choice may name only tools of `tools`. */
export function requireOffered<S extends z.ZodType<Parameters<typeof unofferedChoice>[0]>>(request: S) {
  return request.superRefine((given, context) => {
    const fault = unofferedChoice(given);
    if (fault) context.addIssue({ code: 'custom', path: ['tool_choice'], message: fault });
  });
}

/**
 * Body of POST /v1/chat/completions. Absent, null and the default value are the same, and so are several names of one member, so that a call
 * has one canonical form. Only a streamed call has options of a stream.
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

/** Members that are passed on to a hub unchanged, if the request has them. */
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
  /** Unknown members, unchanged. */
  readonly extra?: JsonObject;
};

type ForwardableMembers = ToolMembers & Sampling & { readonly response_format?: ResponseFormat };

/** The forwarded members in canonical form. */
export function forwardedMembers(given: ForwardableMembers): ForwardedMembers {
  const { top_p, stop, seed, presence_penalty, frequency_penalty, reasoning_effort } = given;
  const response_format = canonicalFormat(given.response_format);
  const sampling = { top_p, stop, seed, presence_penalty, frequency_penalty, reasoning_effort };
  return { ...canonicalTools(given), ...present({ response_format, ...sampling }) };
}
