import { z } from 'zod';
import { type Json, type JsonObject, present } from '../canonical-json.ts';
import { limits } from '../limits.ts';
import { flag, ModelId, samplingMembers, Temperature } from './chat-completion.ts';
import { Schema, ToolName } from './chat-message.ts';
import { CacheControl, type MessageBlock, MessageTurn, SystemBlocks } from './message-blocks.ts';
import { intentMembers, type SvcOptions, svcMembers, withParent } from './paid-work.ts';
import { listOf, remembering } from './parse.ts';
import { wellFormedText } from './text.ts';
import { noItems, only, unset, withoutEffect } from './unserved.ts';

/* The body of POST /v1/messages, and of POST /v1/messages/count_tokens. */

const INT32_MAX = 2 ** 31 - 1;

const hosted = {
  error: ({ input }: { readonly input?: unknown }) =>
    `${String(input).slice(0, limits.tool_name_chars_max)} is not served here: a tool has a schema of its own, and the caller runs it`,
};

const NO_SEARCH = 'is not served here: every tool is told at once';
const Tool = z
  .strictObject({
    type: z.literal('custom', hosted).nullish(),
    name: ToolName,
    description: wellFormedText.max(limits.tool_description_chars_max).nullish(),
    input_schema: Schema.describe('A JSON Schema, passed on as it is.'),
    strict: z.boolean().nullish(),
    defer_loading: z.literal(false, NO_SEARCH).nullish(),
    allowed_callers: z
      .array(z.literal('direct', 'is not served here: a model calls its tools itself'))
      .nullish()
      .transform(() => undefined),
    eager_input_streaming: z.boolean().nullish().describe('Without effect: arguments come as the model writes them.'),
    input_examples: noItems('examples stand in the description'),
    cache_control: CacheControl,
  })
  .transform(({ name, description, input_schema, strict, cache_control }) =>
    present({ name, description, input_schema, strict, cache_control }),
  );

const parallel = { disable_parallel_tool_use: z.boolean().nullish() } as const;
const ToolChoice = z.discriminatedUnion('type', [
  z.strictObject({ type: z.enum(['auto', 'any']), ...parallel }),
  z.strictObject({ type: z.literal('tool'), name: ToolName, ...parallel }),
  z.strictObject({ type: z.literal('none') }),
]);

const display = { display: z.enum(['summarized', 'omitted']).nullish() } as const;
const Thinking = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ type: z.literal('enabled'), budget_tokens: z.int().min(1).max(INT32_MAX), ...display }),
    z
      .strictObject({ type: z.literal('adaptive'), budget_tokens: z.int().min(0).nullish(), ...display })
      .transform(({ type, display: shown }) => ({ type, display: shown })),
    z.strictObject({ type: z.literal('disabled') }),
  ],
  { error: 'is not served here: thinking is enabled, adaptive or disabled' },
);

const Format = z
  .strictObject({ type: z.literal('json_schema', 'is not served here: a format is json_schema'), schema: Schema })
  .nullish();
const OutputConfig = z.strictObject({
  effort: z
    .enum(['low', 'medium', 'high', 'xhigh', 'max'])
    .nullish()
    .describe('How hard the model is to think. Passed on where the hub says that the model reasons.'),
  format: Format.describe('A schema that the answer is to fit.'),
  task_budget: unset('an answer has no budget beyond max_tokens'),
});

const AS_SENT = 'the history is read as it is sent';
const KEEPS_ALL = `is not served here: ${AS_SENT}`;
/** What keeps everything is what is done anyway; clients of coding agents say so in each request. */
const ContextManagement = z.strictObject({
  edits: z
    .array(z.strictObject({ type: z.literal('clear_thinking_20251015', KEEPS_ALL), keep: z.literal('all', KEEPS_ALL) }))
    .nullish(),
});

/** What would change the answer or the bill, and is not passed on: refused by name. */
const messageUnserved = {
  mcp_servers: noItems('no hub calls servers of its own'),
  container: unset('no hub runs programs'),
  compaction: unset(AS_SENT),
  thread: unset('each call stands for itself, and nothing of it is kept'),
  fallbacks: unset('which model may answer is said by `model`'),
  fallback_credit_token: unset('each call is paid for by itself'),
  billing_policy: unset('each call is paid for by itself'),
  inference_geo: unset('it is not known where a hub computes'),
  speed: only('a hub has one speed', 'standard'),
} as const;

const messageWithoutEffect = {
  metadata: 'hubs learn nothing of who asks',
  service_tier: 'what a hub keeps ready, and how fast it is, is between it and us',
  diagnostics: 'nothing is told of a hub’s cache',
} as const;

const common = {
  model: ModelId,
  messages: listOf(MessageTurn, limits.chat_messages_max),
  system: SystemBlocks.optional().nullable().describe('A text, or blocks of text.'),
  tools: listOf(Tool, limits.tools_max, 0).nullish().describe('What the model may call, and the caller runs.'),
  tool_choice: ToolChoice.nullish(),
  thinking: Thinking.nullish().describe('Blocks of thinking are shown where it is enabled or adaptive.'),
  output_config: OutputConfig.nullish(),
  output_format: Format.describe('The former name of `output_config.format`.'),
  cache_control: CacheControl,
  context_management: ContextManagement.nullish(),
  ...messageUnserved,
} as const;

type Asked = z.output<ReturnType<typeof asked>>;
const asked = () => z.strictObject(common);

/** In one form each: what says the usual is left out. */
function canonical({
  tools,
  tool_choice,
  thinking,
  output_config,
  output_format,
  ...given
}: Omit<Asked, 'model'>): JsonObject {
  const format = output_config?.format ?? output_format;
  const config = present({ effort: output_config?.effort, format: format && present(format) });
  const choice = tool_choice && present(tool_choice);
  const usual = choice?.type === 'auto' && !choice.disable_parallel_tool_use;
  return present({
    messages: given.messages as unknown as Json,
    system: given.system?.length ? given.system : null,
    cache_control: given.cache_control,
    ...(tools?.length ? { tools, tool_choice: usual ? null : choice } : {}),
    thinking: thinking && present(thinking),
    output_config: Object.keys(config).length > 0 ? config : null,
  });
}

/** A choice can be made of what is offered alone. */
function requireOffered({ tools, tool_choice }: Omit<Asked, 'model'>, context: z.RefinementCtx): void {
  if (!tool_choice || tool_choice.type === 'auto' || tool_choice.type === 'none') return;
  const names = (tools ?? []).map(({ name }) => name);
  const fault =
    names.length === 0
      ? 'asks for a tool, and none is offered'
      : tool_choice.type === 'tool' && !names.includes(tool_choice.name)
        ? `names a tool that is not offered: ${tool_choice.name}`
        : null;
  if (fault !== null) context.addIssue({ code: 'custom', path: ['tool_choice'], message: fault });
}

/** What of a body asks something of a model, in Anthropic's spelling. A member that is not there is not said. */
export interface AskedMessage {
  readonly model: string;
  readonly messages: readonly MessageTurn[];
  readonly system?: readonly MessageBlock[];
  readonly tools?: readonly OfferedTool[];
  readonly tool_choice?: z.output<typeof ToolChoice>;
  readonly thinking?: { readonly type: string; readonly budget_tokens?: number; readonly display?: string };
  readonly output_config?: { readonly effort?: string; readonly format?: { readonly schema: JsonObject } };
  readonly cache_control?: JsonObject;
}

export type OfferedTool = JsonObject & {
  readonly name: string;
  readonly description?: string;
  readonly input_schema: JsonObject;
  readonly strict?: boolean;
};

/** How an answer is drawn. */
interface Drawn {
  readonly max_tokens: number;
  readonly stop_sequences?: readonly string[];
  readonly temperature?: number;
  readonly top_p?: number;
  readonly top_k?: number;
}

/** As a payment is bound to it, whatever way it came: members that say nothing, or the usual, are left out. */
export type MessagesRequest = JsonObject &
  AskedMessage &
  Drawn &
  SvcOptions & {
    readonly stream?: boolean;
    readonly intent_id: string | null;
    readonly attempt_index: number | null;
    readonly parent_ref?: string;
  };

const drawn = {
  max_tokens: z.int().min(1).max(INT32_MAX).describe('Tokens of the answer at the most.'),
  stop_sequences: z
    .array(wellFormedText.min(1).max(limits.stop_text_chars_max))
    .max(limits.stop_texts_max)
    .nullish()
    .describe('Up to four texts before which the answer ends.'),
  temperature: Temperature,
  top_p: samplingMembers.top_p,
  top_k: z.int().min(0).max(INT32_MAX).nullish(),
} as const;

/** Body of POST /v1/messages. A text and one block of it are the same request. */
export const MessagesRequest = remembering(
  z
    .strictObject({
      ...common,
      ...drawn,
      stream: flag.describe('Server-sent events, as Anthropic sends them; the event `svc` carries the receipt.'),
      ...intentMembers,
      ...svcMembers,
      ...withoutEffect(messageWithoutEffect),
    })
    .superRefine(requireOffered)
    .transform(({ model, max_tokens, stream, intent_id, attempt_index, svc, stop_sequences, ...given }) => {
      const { temperature, top_p, top_k } = given;
      const stops = stop_sequences?.length ? stop_sequences : null;
      const request = {
        model,
        max_tokens,
        ...canonical(given),
        ...present({ stop_sequences: stops, temperature, top_p, top_k }),
        intent_id,
        attempt_index,
        ...withParent(given),
        ...(stream ? { stream } : {}),
        ...(svc === undefined ? {} : { svc }),
      };
      return request as unknown as MessagesRequest;
    }),
);

/** Body of POST /v1/messages/count_tokens: what a message is asked with, but for how its answer is drawn. */
export const MessageTokensRequest = remembering(
  asked()
    .superRefine(requireOffered)
    .transform(given => ({ model: given.model, ...canonical(given) }) as unknown as AskedMessage & JsonObject),
);
export type MessageTokensRequest = z.output<typeof MessageTokensRequest>;

/** Members of both that hold JSON in Anthropic's spelling. */
export const messageOpaqueMembers: readonly string[] = [
  'messages',
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'cache_control',
];
