import { z } from 'zod';
import { type JsonObject, present } from '../canonical-json.ts';
import { INT_MAX, limits } from '../limits.ts';
import { JsonMember, restOnly } from '../noun.ts';
import { constantText, optionalConstantText } from '../words.ts';
import { Betas } from './anthropic-headers.ts';
import { chatMemberRule, flag, samplingMembers, Temperature } from './chat-completion.ts';
import { Schema, Strict, ToolDescription, ToolName } from './chat-message.ts';
import { Extra, extraOf, withoutProto } from './forwarded/extra.ts';
import { bodyPlace } from './forwarded/foreign-members.ts';
import {
  CacheControl,
  type MessageBlock,
  MessageTurn,
  memberNamesOf,
  openObject,
  SystemBlocks,
} from './message-blocks.ts';
import { intentMembers, ModelId, type SvcOptions, svcMembers, withParent } from './paid-work.ts';
import { listOf } from './parse.ts';
import { wellFormedText } from './text.ts';
import { chatWithoutEffect, noItems, only, unset, withoutEffect } from './unsupported-members.ts';

/* The body of POST /v1/messages, and of POST /v1/messages/count_tokens. */

const hosted = {
  error: ({ input }: { readonly input?: unknown }) =>
    `${JSON.stringify(String(input).slice(0, limits.tool_name_chars_max))} is not supported: leave \`type\` out or send \`custom\`, because the caller runs the tools`,
};

const NO_SEARCH = 'is not supported: all tools are sent to the model at once';
const noExamples = noItems('put examples into the description');
const Tool = openObject({
  type: z
    .literal('custom', hosted)
    .nullish()
    .transform(() => undefined)
    .describe(optionalConstantText('custom')),
  name: ToolName,
  description: ToolDescription,
  input_schema: Schema.describe('JSON Schema of the input, passed on unchanged.'),
  strict: Strict,
  defer_loading: z
    .literal(false, NO_SEARCH)
    .nullish()
    .transform(() => undefined)
    .describe('Only false, the default: all tools are sent to the model at once.'),
  allowed_callers: z
    .array(z.literal('direct', 'is not supported: only the model calls tools'))
    .nullish()
    .transform(() => undefined)
    .describe('Callers of the tool, as a list. Only `["direct"]`, the default: the model itself.'),
  eager_input_streaming: z
    .boolean()
    .nullish()
    .transform(given => given || undefined)
    .describe(
      'If true, the input is streamed while the model writes it. Passed on to hubs with Anthropic’s API; other hubs always stream it. Default: false.',
    ),
  input_examples: noExamples.transform(() => undefined).describe(noExamples.description ?? ''),
  cache_control: CacheControl,
});

const parallel = {
  disable_parallel_tool_use: z
    .boolean()
    .nullish()
    .describe('If true, the model calls at most one tool in an answer. Default: false.'),
} as const;
const ChosenByModel = openObject({
  type: z.enum(['auto', 'any']).describe('`auto`: the model may call a tool. `any`: it must call one.'),
  ...parallel,
});
const ChosenTool = openObject({
  type: z.literal('tool').describe(`${constantText('tool')} The model must call the tool \`name\`.`),
  name: ToolName,
  ...parallel,
});
const NoTool = openObject({ type: z.literal('none').describe(`${constantText('none')} The model calls none.`) });
const ToolChoice = z
  .discriminatedUnion('type', [ChosenByModel, ChosenTool, NoTool])
  .transform(choice => choice as MessageToolChoice);

export type MessageToolChoice = JsonObject & {
  readonly type: 'auto' | 'any' | 'tool' | 'none';
  readonly name?: string;
  readonly disable_parallel_tool_use?: boolean;
};

const display = {
  display: z
    .enum(['summarized', 'omitted'])
    .nullish()
    .describe(
      '`summarized`: the thinking is returned as a summary. `omitted`: without text. Default: the hub decides.',
    ),
} as const;
const Enabled = openObject({
  type: z.literal('enabled'),
  budget_tokens: z
    .int()
    .min(1)
    .max(INT_MAX)
    .describe(
      'Maximum number of tokens for thinking, from 1. Required if the type is `enabled`. Hubs without Anthropic’s API know no such maximum: for reasoning models they get an effort instead, `low` up to 4096, `medium` up to 16384, otherwise `high`, unless `output_config` has one.',
    ),
  ...display,
});
const Adaptive = openObject({
  type: z.literal('adaptive'),
  budget_tokens: z
    .int()
    .min(0)
    .nullish()
    .transform(() => undefined)
    .describe('Ignored if the type is `adaptive`: the model decides.'),
  ...display,
});
const Disabled = openObject({ type: z.literal('disabled') });
const Thinking = z.discriminatedUnion('type', [Enabled, Adaptive, Disabled], {
  error: 'is not supported: `type` must be enabled, adaptive or disabled',
});

const JsonFormat = openObject({
  type: z.literal('json_schema', 'is not supported: the only type is json_schema'),
  schema: Schema.describe('JSON Schema that the answer must match, passed on unchanged.'),
});
const Format = JsonFormat.nullish();
const OutputConfig = openObject({
  effort: z
    .enum(['low', 'medium', 'high', 'xhigh', 'max'])
    .nullish()
    .describe(
      'Thinking effort of the model, sent to hubs with Anthropic’s API and, for models that they list as reasoning models, to other hubs. Without effect elsewhere, and when tokens are counted. Default: the hub decides.',
    ),
  format: Format.describe('Format of the answer: `{type: "json_schema", schema}`. Default: text.'),
  task_budget: unset('`max_tokens` is the only budget of an answer'),
});

/** Known members of the objects of a request, other than its turns. */
export const knownMembers = {
  tool: memberNamesOf(Tool),
  /** By the `type` of the choice. */
  choices: {
    auto: memberNamesOf(ChosenByModel),
    any: memberNamesOf(ChosenByModel),
    tool: memberNamesOf(ChosenTool),
    none: memberNamesOf(NoTool),
  },
  /** By the `type` of thinking. */
  thinking: { enabled: memberNamesOf(Enabled), adaptive: memberNamesOf(Adaptive), disabled: memberNamesOf(Disabled) },
  output_config: memberNamesOf(OutputConfig),
  format: memberNamesOf(JsonFormat),
} as const;

const AS_SENT = 'the whole history is read as it was sent';
const KEEPS_ALL = `is not supported: the only edit is \`{type: "clear_thinking_20251015", keep: "all"}\`, because ${AS_SENT}`;
/** Clients for coding send the edit that keeps everything, which is what hubs do without it. */
const ContextManagement = z
  .strictObject({
    edits: z
      .array(
        z.strictObject({ type: z.literal('clear_thinking_20251015', KEEPS_ALL), keep: z.literal('all', KEEPS_ALL) }),
      )
      .nullish()
      .describe('Edits of the history. Only the one that keeps all thinking is accepted. Default: none.'),
  })
  .nullish()
  .transform(given => (given?.edits?.length ? given : undefined))
  .meta({ scalar: 'JSONObject' })
  .describe(
    'Accepts only `{edits: [{type: "clear_thinking_20251015", keep: "all"}]}`: the whole history is read. Default: none.',
  );

/** Members that would change the answer or its price and are not passed on; refused by name. */
const messageUnserved = {
  mcp_servers: noItems('hubs call no MCP servers'),
  container: unset('hubs run no programs'),
  compaction: unset(AS_SENT),
  thread: unset('calls are independent, and nothing of them is stored'),
  fallbacks: unset('`model` decides which model answers'),
  fallback_credit_token: unset('each call is paid for separately'),
  billing_policy: unset('each call is paid for separately'),
  workspace_id: unset('hubs are called with the key of this service'),
  inference_geo: unset('it is not known where hubs run their models'),
  speed: only('hubs have one speed', 'standard'),
} as const;

const messageWithoutEffect = {
  metadata: 'hubs receive nothing that identifies the caller',
  user_profile_id: 'hubs receive nothing that identifies the caller',
  service_tier: 'this service decides about caches and speed',
  diagnostics: 'the cache of a hub is not reported',
} as const;

const common = {
  model: ModelId,
  messages: listOf(MessageTurn, limits.chat_messages_max)
    .meta({ scalar: 'JSONObject' })
    .describe(
      'Turns of the conversation, oldest first, each `{role, content}` with role `user`, `assistant` or `system`.',
    ),
  system: SystemBlocks.optional()
    .nullable()
    .meta({ argument: z.array(JsonMember).nullish() })
    .describe(
      'System prompt: blocks of text that the model reads first. By REST a single text is accepted too. Default: none.',
    ),
  tools: listOf(Tool, limits.tools_max, 0)
    .nullish()
    .meta({ scalar: 'JSONObject' })
    .describe(
      'Tools that the model may call and the caller runs, each `{name, description, input_schema}`. Default: none.',
    ),
  tool_choice: ToolChoice.nullish()
    .meta({ scalar: 'JSONObject' })
    .describe(
      'How the model chooses tools: `{type: "auto"}`, `{type: "any"}`, `{type: "none"}` or `{type: "tool", name}`. Default: `{type: "auto"}`.',
    ),
  thinking: Thinking.nullish()
    .meta({ scalar: 'JSONObject' })
    .describe(
      'Thinking of the model: `{type: "enabled", budget_tokens}`, `{type: "adaptive"}` or `{type: "disabled"}`. The first two return thinking blocks; with display `omitted`, only hubs that use Anthropic’s API return them, without text. Default: the hub decides whether the model thinks, and no thinking blocks are returned.',
    ),
  output_config: OutputConfig.nullish()
    .meta({ scalar: 'JSONObject' })
    .describe(
      'Thinking effort (`low`, `medium`, `high`, `xhigh` or `max`) and format of the answer: `{effort, format: {type: "json_schema", schema}}`. Default: as the model chooses, in text.',
    ),
  ...restOnly({
    output_format: Format.describe(
      'Former name of `output_config.format`: `{type: "json_schema", schema}`. Ignored beside that member. Default: text.',
    ),
  }),
  cache_control: CacheControl,
  context_management: ContextManagement,
  betas: Betas,
  ...restOnly(messageUnserved),
  extra: Extra,
} as const;

const countedBody = z.looseObject({
  ...common,
  model: ModelId.describe('Ignored: the estimate is the same for each model.'),
  ...restOnly({
    betas: Betas.describe(
      'Names of betas, each with its date, such as `effort-2025-11-24`. Accepted and not counted; refused with 400 if `create_message` refuses one. Default: none.',
    ),
  }),
  extra: Extra.describe(
    'Members that this service does not know. Accepted and not counted. Refused with 400: members about what this service decides (hub, key, charge) or does not offer, and members of the answer or the call, such as `max_tokens` or `intent_id`.',
  ),
});
type CountedBody = z.output<typeof countedBody>;

/** Canonical form: default values are left out. */
function canonical({ tools, tool_choice, thinking, output_config, output_format, ...given }: CountedBody): JsonObject {
  const config = present({ ...output_config, format: (output_config?.format as JsonObject) ?? output_format });
  return present({
    messages: given.messages,
    system: given.system?.length ? given.system : null,
    cache_control: given.cache_control,
    context_management: given.context_management,
    ...(tools?.length ? { tools, tool_choice: isUsual(tool_choice) ? null : tool_choice } : {}),
    thinking,
    output_config: Object.keys(config).length > 0 ? config : null,
  });
}

function isUsual(choice: MessageToolChoice | null | undefined): boolean {
  const { type, disable_parallel_tool_use = false, ...others } = choice ?? { type: 'auto' };
  return type === 'auto' && !disable_parallel_tool_use && Object.keys(others).length === 0;
}

/** A choice may name only tools of `tools`. */
function requireOffered({ tools, tool_choice }: CountedBody, context: z.RefinementCtx): void {
  if (!tool_choice || tool_choice.type === 'auto' || tool_choice.type === 'none') return;
  const names = (tools ?? []).map(({ name }) => name);
  const fault =
    names.length === 0
      ? 'requires a tool, but `tools` is empty'
      : tool_choice.type === 'tool' && !names.includes(tool_choice.name ?? '')
        ? `names a tool that is not in \`tools\`: ${tool_choice.name}`
        : null;
  if (fault !== null) context.addIssue({ code: 'custom', path: ['tool_choice'], message: fault });
}

/** The members that a model reads, in the form of Anthropic. */
export interface PromptMembers {
  readonly model: string;
  readonly messages: readonly MessageTurn[];
  readonly system?: readonly MessageBlock[];
  readonly tools?: readonly OfferedTool[];
  readonly tool_choice?: MessageToolChoice;
  readonly thinking?: JsonObject & {
    readonly type: 'enabled' | 'adaptive' | 'disabled';
    readonly budget_tokens?: number;
    readonly display?: string;
  };
  readonly output_config?: JsonObject & {
    readonly effort?: string;
    readonly format?: JsonObject & { readonly schema: JsonObject };
  };
  readonly cache_control?: JsonObject;
  /** Unknown members, unchanged. */
  readonly extra?: JsonObject;
}

export type OfferedTool = JsonObject & {
  readonly name: string;
  readonly description?: string;
  readonly input_schema: JsonObject;
  readonly strict?: boolean;
};

/** Sampling of the answer. */
interface MessageSampling {
  readonly max_tokens: number;
  readonly stop_sequences?: readonly string[];
  readonly temperature?: number;
  readonly top_p?: number;
  readonly top_k?: number;
}

/** The canonical request that a payment is bound to: absent members and default values are left out. */
export type MessagesRequest = JsonObject &
  PromptMembers &
  MessageSampling &
  SvcOptions & {
    readonly stream?: boolean;
    /** Betas of the API that a hub of its dialect applies. */
    readonly betas?: readonly string[];
    readonly context_management?: JsonObject;
    readonly intent_id: string | null;
    readonly attempt_index: number | null;
    readonly parent_ref?: string;
  };

const sampling = {
  max_tokens: z.int().min(1).max(INT_MAX).describe('Maximum number of tokens of the answer, from 1.'),
  stop_sequences: z
    .array(wellFormedText.min(1).max(limits.stop_text_chars_max))
    .max(limits.stop_texts_max)
    .nullish()
    .describe(
      `Up to four texts of up to ${limits.stop_text_chars_max} characters before which the answer ends. Default: none.`,
    ),
  temperature: Temperature,
  top_p: samplingMembers.top_p,
  top_k: z
    .int()
    .min(0)
    .max(INT_MAX)
    .nullish()
    .describe('Number of the most likely tokens among which the model chooses, from 0. Default: the hub decides.'),
} as const;

const messageBody = z.looseObject({
  ...common,
  ...sampling,
  stream: flag.describe(
    'If true, the answer is sent as server-sent events in the form of Anthropic, and the event `svc` carries the receipt. Default: false. On the graph, messageStream always streams, whatever this value is.',
  ),
  ...intentMembers,
  ...svcMembers,
  ...withoutEffect(messageWithoutEffect),
});

/** The members of a chat that identify the caller have no effect here either. */
const ineffective = Object.keys({ ...messageWithoutEffect, ...chatWithoutEffect });
/** Members of a chat that a message has no equivalent of. */
const chatRule = chatMemberRule('message', ['seed', 'presence_penalty', 'frequency_penalty']);
const messagePlace = bodyPlace(Object.keys(messageBody.shape), ineffective, chatRule);

/** Body of POST /v1/messages. A text and one block of it are the same request. */
export const MessagesRequest = z.preprocess(
  withoutProto,
  messageBody.superRefine(requireOffered).transform((given, context) => {
    const { model, max_tokens, stream, intent_id, attempt_index, svc, stop_sequences } = given;
    const { temperature, top_p, top_k } = given;
    const stops = stop_sequences?.length ? stop_sequences : null;
    const request = {
      model,
      max_tokens,
      ...canonical(given),
      ...present({ stop_sequences: stops, temperature, top_p, top_k, betas: given.betas }),
      intent_id,
      attempt_index,
      ...withParent(given),
      ...(stream ? { stream } : {}),
      ...(svc === undefined ? {} : { svc }),
      ...present({ extra: extraOf(given as JsonObject, messagePlace, context) }),
    };
    return request as unknown as MessagesRequest;
  }),
);

const NOT_COUNTED = 'is not a member of count_tokens: only the request is counted';
const countedPlace = bodyPlace(Object.keys(countedBody.shape), ineffective, given =>
  Object.hasOwn(sampling, given.name) || given.name === 'stream'
    ? { kind: 'refused', why: NOT_COUNTED }
    : chatRule(given),
);

/** Body of POST /v1/messages/count_tokens: that of a message without the sampling. */
export const MessageTokensRequest = z.preprocess(
  withoutProto,
  countedBody.superRefine(requireOffered).transform((given, context) => {
    const extra = extraOf(given as JsonObject, countedPlace, context);
    return { model: given.model, ...canonical(given), ...present({ extra }) } as unknown as PromptMembers & JsonObject;
  }),
);
export type MessageTokensRequest = z.output<typeof MessageTokensRequest>;

/** Members that contain JSON as Anthropic spells it. */
const written = [
  'messages',
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'cache_control',
  'context_management',
];

/** The members of a canonical request that the model reads. */
export const membersForModel: readonly string[] = [...written, ...Object.keys(sampling)];
