import { z } from 'zod';
import { isJsonObject, type JsonObject, present } from '../canonical-json.ts';
import { jsonFault, type ValueBounds } from '../json-value.ts';
import { limits } from '../limits.ts';
import { JsonMember } from '../noun.ts';
import { optionalConstantText } from '../words.ts';
import { AnsweredContent, canonicalContent, type Part, type PartKind, TextContent, UserContent } from './content.ts';
import { Extra, extraOf, inlineExtra } from './forwarded/extra.ts';
import { openPlace } from './forwarded/foreign-members.ts';
import { listOf } from './parse.ts';
import { wellFormedText } from './text.ts';

/**
 * A JSON object that is passed on unread. It must have a canonical form (RFC 8785), because the payment is bound to it, and its size is
 * limited, because it is traversed.
 */
function jsonObject(bounds: ValueBounds) {
  return z
    .custom<JsonObject>(isJsonObject, { error: 'must be an object' })
    .superRefine((value, context) => {
      const fault = jsonFault(value, bounds);
      if (fault) context.addIssue({ code: 'custom', message: fault });
    })
    .meta({ type: 'object' });
}

export const ToolName = wellFormedText
  .min(1)
  .max(limits.tool_name_chars_max)
  .describe('Name of the tool, by which the model calls it.');

/** A JSON Schema (2020-12), passed on to the hub unchanged. */
export const Schema = jsonObject({
  depth_max: limits.tool_schema_depth_max,
  members_max: limits.tool_schema_members_max,
});

export const ToolDescription = wellFormedText
  .max(limits.tool_description_chars_max)
  .nullish()
  .describe('Description of the tool, for the model. Default: none.');
export const Strict = z
  .boolean()
  .nullish()
  .describe('Whether the model must follow the schema exactly. Default: the hub decides.');

/** Members of a function in both forms of OpenAI. */
export const functionMembers = {
  name: ToolName,
  description: ToolDescription,
  parameters: Schema.nullish().describe('JSON Schema of the arguments, passed on unchanged. Default: no arguments.'),
  strict: Strict,
} as const;

export const toolPlace = openPlace(['type', 'function']);
export const functionPlace = openPlace(Object.keys(functionMembers));

const FUNCTIONS_ONLY = 'is not supported: tools are functions';

const Tool = z
  .looseObject({
    type: z.literal('function', FUNCTIONS_ONLY),
    function: z.looseObject(functionMembers).describe('The function: its name, description and parameters.'),
  })
  .transform((given, context) => ({
    ...inlineExtra(given as JsonObject, toolPlace, context),
    function: inlineExtra(given.function as JsonObject, functionPlace, context, ['function']),
  }));

/** A list of tools. An empty list is the same as none. */
export function toolsOf<S extends z.ZodType>(tool: S) {
  return listOf(tool, limits.tools_max, 0).nullish();
}

export const Tools = toolsOf(Tool)
  .meta({ scalar: 'JSONObject' })
  .describe(
    'Functions that the model may call, each `{type: "function", function: {name, description, parameters}}`. Default: none.',
  );

const NamedTool = z
  .looseObject({
    type: z.literal('function'),
    function: z.looseObject({ name: ToolName }).describe('The function, by its name.'),
  })
  .transform(
    (given, context) =>
      ({
        ...inlineExtra(given as JsonObject, toolPlace, context),
        function: inlineExtra(given.function as JsonObject, namedPlace, context, ['function']),
      }) as NamedTool,
  );
const namedPlace = openPlace(['name']);
interface NamedTool extends JsonObject {
  readonly type: 'function';
  readonly function: { readonly name: string };
}
export const ALLOWED_MODE = '`auto`: the model may call one of the tools. `required`: it must call one.';

const AllowedTools = z
  .looseObject({
    type: z.literal('allowed_tools'),
    allowed_tools: z
      .looseObject({
        mode: z.enum(['auto', 'required']).describe(ALLOWED_MODE),
        tools: listOf(NamedTool, limits.tools_max).describe('Tools that the model may call.'),
      })
      .describe('Tools that the model may call, and whether it must call one.'),
  })
  .transform(
    (given, context) =>
      ({
        ...inlineExtra(given as JsonObject, choicePlace, context),
        allowed_tools: inlineExtra(given.allowed_tools as JsonObject, allowedPlace, context, ['allowed_tools']),
      }) as AllowedTools,
  );
interface AllowedTools extends JsonObject {
  readonly type: 'allowed_tools';
  readonly allowed_tools: { readonly mode: 'auto' | 'required'; readonly tools: readonly NamedTool[] };
}
const choicePlace = openPlace(['type', 'allowed_tools']);
const allowedPlace = openPlace(['mode', 'tools']);

export const ToolMode = z.enum(['none', 'auto', 'required']);
export const ToolChoice = z
  .union([ToolMode, NamedTool, AllowedTools])
  .nullish()
  .meta({ scalar: 'JSON' })
  .describe(
    'How the model chooses tools: `none`, `auto`, `required`, `{type: "function", function: {name}}`, or `{type: "allowed_tools", allowed_tools: {mode, tools}}`. Default: `auto`.',
  );
export type ToolChoice = z.output<typeof ToolChoice>;

export const ParallelToolCalls = z
  .boolean()
  .nullish()
  .describe('Whether the model may call several tools at once. Default: the hub decides.');

export interface ToolMembers {
  readonly tools?: readonly JsonObject[] | null | undefined;
  readonly tool_choice?: ToolChoice;
  readonly parallel_tool_calls?: boolean | null | undefined;
}

/** Canonical form of the tool members: none without a tool, and no `tool_choice` for `auto`, the default. */
export function canonicalTools({ tools, tool_choice, parallel_tool_calls }: ToolMembers): JsonObject {
  if (!tools?.length) return {};
  return present({ tools, tool_choice: tool_choice === 'auto' ? null : tool_choice, parallel_tool_calls });
}

/** @returns what is wrong with the choice. Null if it can be made. */
export function unofferedChoice({ tools, tool_choice }: ToolMembers): string | null {
  if (!tool_choice || tool_choice === 'auto' || tool_choice === 'none') return null;
  if (!tools?.length) return 'requires a tool, but `tools` is empty';
  const offered = new Set(tools.map(tool => (tool.function as JsonObject).name));
  const unoffered = namedBy(tool_choice).find(name => !offered.has(name));
  return unoffered === undefined ? null : `names a tool that is not in \`tools\`: ${unoffered}`;
}

function namedBy(choice: Exclude<ToolChoice, null | undefined>): string[] {
  if (typeof choice === 'string') return [];
  if (choice.type === 'function') return [choice.function.name];
  return choice.allowed_tools.tools.map(tool => tool.function.name);
}

/** Clients that assemble a call from a stream send its `index` back. */
export const callPlace = openPlace(['id', 'type', 'function'], { without_effect: ['index'] });
const calledPlace = openPlace(['name', 'arguments']);

/** A call of the model, sent back with its result. */
export const ToolCall = z
  .looseObject({
    id: wellFormedText
      .min(1)
      .max(limits.tool_call_id_chars_max)
      .describe('Id of the tool call, as the answer of the model has it.'),
    type: z.literal('function', FUNCTIONS_ONLY).nullish().describe(optionalConstantText('function')),
    function: z
      .looseObject({
        name: ToolName,
        arguments: wellFormedText.describe('Arguments of the call: JSON, as the model wrote it.'),
      })
      .describe('Function that the model called, and its arguments.'),
  })
  .transform(
    (given, context) =>
      ({
        ...inlineExtra(given as JsonObject, callPlace, context),
        type: 'function',
        function: inlineExtra(given.function as JsonObject, calledPlace, context, ['function']),
      }) as ToolCall,
  );
export interface ToolCall extends JsonObject {
  readonly id: string;
  readonly type: 'function';
  readonly function: JsonObject & { readonly name: string; readonly arguments: string };
}

/* One message of a chat. */

/** Some clients send an empty list with every turn. */
const calls = listOf(ToolCall, limits.tool_calls_max, 0)
  .nullish()
  .meta({ scalar: 'JSONObject' })
  .describe('Tool calls of the model, as its answer had them. Only with role `assistant`. Default: none.');

const ReasoningDetail = jsonObject({
  depth_max: limits.forwarded_depth_max,
  members_max: limits.tool_schema_members_max,
});
/** Reasoning of the model as its answer had it. Some models require it together with the calls that followed. */
export const reasoningOfTurn = {
  reasoning_content: wellFormedText
    .nullish()
    .describe('`reasoning_content` of the answer of the model. Only with role `assistant`. Default: none.'),
  reasoning: wellFormedText
    .nullish()
    .describe('`reasoning` of the answer of the model. Only with role `assistant`. Default: none.'),
  reasoning_details: listOf(ReasoningDetail, limits.content_parts_max, 0)
    .nullish()
    .meta({ scalar: 'JSONObject' })
    .describe('`reasoning_details` of the answer of the model. Only with role `assistant`. Default: none.'),
} as const;

const common = {
  name: wellFormedText
    .max(limits.tool_name_chars_max)
    .nullish()
    .describe('Name that distinguishes authors with the same role. Default: none.'),
  extra: Extra.describe(
    'Members of the message that this service does not know, passed on to the hub unchanged, except those that identify the caller. Refused with 400: those that no hub of the model accepts, and those about the key, address or headers of a hub.',
  ),
} as const;
const refusal = wellFormedText
  .nullish()
  .describe('Sentence in which the model refused to answer. Only with role `assistant`. Default: none.');
const ToolCallId = wellFormedText
  .min(1)
  .max(limits.tool_call_id_chars_max)
  .describe('Id of the tool call whose result this message is. Required with role `tool`, refused with any other.');

const messageByRole = z.discriminatedUnion('role', [
  z.looseObject({
    role: z
      .enum(['system', 'developer'])
      .describe('Role of the author: `system` and `developer` both give the model instructions.'),
    content: TextContent,
    ...common,
  }),
  z.looseObject({ role: z.literal('user'), content: UserContent, ...common }),
  // A turn without text and calls is allowed: the model may have spent all tokens on thinking.
  z.looseObject({
    role: z.literal('assistant'),
    content: AnsweredContent,
    tool_calls: calls,
    refusal,
    ...reasoningOfTurn,
    ...common,
  }),
  z.looseObject({
    role: z.literal('tool'),
    tool_call_id: ToolCallId,
    content: TextContent,
    ...common,
  }),
]);

/** Canonical form: parts of text are joined to `content`; if another part is among them, the message has `parts` instead. */
export type ChatRequestMessage = JsonObject & {
  /** `system`, `developer`, `user`, `assistant` or `tool`. */
  readonly role: string;
  readonly content?: string | null;
  readonly parts?: readonly Part[];
  readonly name?: string;
  readonly tool_calls?: readonly ToolCall[];
  readonly refusal?: string;
  readonly reasoning_content?: string;
  readonly reasoning?: string;
  readonly reasoning_details?: readonly JsonObject[];
  readonly tool_call_id?: string;
  readonly extra?: JsonObject;
};

/** A message in the form of OpenAI. On the graph, `content` is text, and a list of parts is `parts`. */
export const ChatRequestMessage = z.preprocess(partsAsContent, messageByRole.transform(canonical));

function partsAsContent(message: unknown, context: z.core.$RefinementCtx): unknown {
  if (!isJsonObject(message) || !('parts' in message)) return message;
  const { parts, ...rest } = message;
  if (parts == null) return rest;
  if (rest.content == null) return { ...rest, content: parts };
  if (Array.isArray(parts) && parts.length === 0) return rest;
  context.addIssue({ code: 'custom', path: ['parts'], message: 'is sent together with content: send one of them' });
  return z.NEVER;
}

/** A message on the graph: the members of every role, with text and parts as two members. */
export const RequestMessageNoun = z.object({
  role: z.string().describe('Role of the author: `system`, `developer`, `user`, `assistant` or `tool`.'),
  content: z
    .string()
    .nullish()
    .describe('Text of the message. Leave it out if `parts` contains the text, or if an assistant said nothing.'),
  parts: z
    .array(JsonMember)
    .nullish()
    .describe(
      'Parts of the message, as OpenAI spells them: texts, images, audio and files. Send either this or `content`.',
    ),
  tool_calls: calls,
  tool_call_id: ToolCallId.nullish(),
  refusal,
  ...reasoningOfTurn,
  ...common,
});

/** The messages of a chat, and of a response that is translated to a chat. */
export const ChatMessages = listOf(ChatRequestMessage, limits.chat_messages_max)
  .meta({ argument: z.array(RequestMessageNoun) })
  .describe('Messages of the conversation so far, each `{role, content}`, oldest first.');

export const messageMembers: readonly string[] = Object.keys(RequestMessageNoun.shape);

/** An answer that is sent back may have an empty list of citations. */
export const messagePlace = openPlace(messageMembers, { without_effect_empty: ['annotations'] });

type MessageByRole = z.output<typeof messageByRole>;

function canonical(given: MessageByRole, context: z.core.$RefinementCtx): ChatRequestMessage {
  const { role, content, tool_calls, refusal, tool_call_id, reasoning_details, ...others } = given as MessageByRole & {
    readonly tool_calls?: readonly ToolCall[] | null;
    readonly refusal?: string | null;
    readonly tool_call_id?: string;
    readonly reasoning_details?: readonly JsonObject[] | null;
  };
  requireOfRole(given as JsonObject, context);
  const { reasoning_content, reasoning, name: named } = others as JsonObject;
  const extra = extraOf(given as JsonObject, messagePlace, context);
  return {
    role,
    ...canonicalContent(content),
    ...present({
      name: named || null,
      refusal,
      reasoning_content,
      reasoning,
      reasoning_details: reasoning_details?.length ? reasoning_details : null,
      tool_call_id,
      tool_calls: tool_calls?.length ? tool_calls : null,
      extra,
    }),
  };
}

const ofRole: Readonly<Record<string, readonly string[]>> = {
  assistant: ['tool_calls', 'refusal', ...Object.keys(reasoningOfTurn)],
  tool: ['tool_call_id'],
};

/** A member of another role is refused, because it would have no effect. */
function requireOfRole({ role, ...members }: JsonObject, context: z.core.$RefinementCtx): void {
  const foreign = Object.entries(ofRole).flatMap(([of, names]) => (of === role ? [] : names));
  for (const member of foreign) {
    const value = members[member] ?? null;
    if (value !== null && value !== '' && !(Array.isArray(value) && value.length === 0))
      context.addIssue({
        code: 'custom',
        path: [member],
        message: `is not a member of messages with role ${String(role)}`,
      });
  }
}

/** Path of the first part of a kind that only some models accept. Null if there is none. */
export function partAt(messages: readonly ChatRequestMessage[], kind: PartKind): string | null {
  for (const [index, { parts }] of messages.entries()) {
    const part = parts?.findIndex(({ type }) => type === kind) ?? -1;
    if (part !== -1) return `${index}.content.${part}`;
  }
  return null;
}
