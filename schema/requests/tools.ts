import { z } from 'zod';
import { type JsonObject, present } from '../canonical-json.ts';
import { limits } from '../limits.ts';
import { jsonObject } from './json-object.ts';
import { listOf, wellFormedText } from './parse.ts';

export const ToolName = wellFormedText.min(1).max(limits.tool_name_chars_max);

/** JSON Schema (2020-12) as the hub reads it: passed on as it is. */
export const Schema = jsonObject({
  depth_max: limits.tool_schema_depth_max,
  members_max: limits.tool_schema_members_max,
});

/** What is offered to be called, as both of OpenAI's spellings have it. */
export const functionMembers = {
  name: ToolName,
  description: wellFormedText.max(limits.tool_description_chars_max).nullish(),
  parameters: Schema.nullish().describe('A JSON Schema, passed on as it is.'),
  strict: z.boolean().nullish(),
} as const;

export type OfferedFunction = z.output<z.ZodObject<typeof functionMembers>>;

/** As hubs are told of it. */
export function toolOf({ name, description, parameters, strict }: OfferedFunction): JsonObject {
  return { type: 'function', function: present({ name, description, parameters, strict }) };
}

const FUNCTIONS_ONLY = 'is not served here: tools are functions';

const Tool = z
  .object({ type: z.literal('function', FUNCTIONS_ONLY), function: z.object(functionMembers) })
  .transform(given => toolOf(given.function));

/** One list for whatever may be offered; an empty one says that nothing is. */
export function toolsOf<S extends z.ZodType>(tool: S) {
  return listOf(tool, limits.tools_max, 0).nullish();
}

export const Tools = toolsOf(Tool);

const Named = z.object({ type: z.literal('function'), function: z.object({ name: ToolName }) });
const Allowed = z.object({
  type: z.literal('allowed_tools'),
  allowed_tools: z.object({ mode: z.enum(['auto', 'required']), tools: listOf(Named, limits.tools_max) }),
});

export const ToolMode = z.enum(['none', 'auto', 'required']);
export const ToolChoice = z.union([ToolMode, Named, Allowed]).nullish();
export type ToolChoice = z.output<typeof ToolChoice>;

export interface ToolMembers {
  readonly tools?: readonly JsonObject[] | null | undefined;
  readonly tool_choice?: ToolChoice;
  readonly parallel_tool_calls?: boolean | null | undefined;
}

/** What a request says of tools, in one form: without a tool there is nothing to say, and `auto` is what is done anyway. */
export function canonicalTools({ tools, tool_choice, parallel_tool_calls }: ToolMembers): JsonObject {
  if (!tools?.length) return {};
  return present({ tools, tool_choice: tool_choice === 'auto' ? null : tool_choice, parallel_tool_calls });
}

/** @returns what a choice names that is not offered; null where it can be made. */
export function unofferedChoice({ tools, tool_choice }: ToolMembers): string | null {
  if (!tool_choice || tool_choice === 'auto' || tool_choice === 'none') return null;
  if (!tools?.length) return 'asks for a tool, and none is offered';
  const offered = new Set(tools.map(tool => (tool.function as JsonObject).name));
  const unoffered = namedBy(tool_choice).find(name => !offered.has(name));
  return unoffered === undefined ? null : `names a tool that is not offered: ${unoffered}`;
}

function namedBy(choice: Exclude<ToolChoice, null | undefined>): string[] {
  if (typeof choice === 'string') return [];
  if (choice.type === 'function') return [choice.function.name];
  return choice.allowed_tools.tools.map(tool => tool.function.name);
}

/** A call that was made, as it is sent back with what came of it. */
export const ToolCall = z
  .object({
    id: wellFormedText.min(1).max(limits.tool_call_id_chars_max),
    type: z.literal('function', FUNCTIONS_ONLY).nullish(),
    function: z.object({ name: ToolName, arguments: wellFormedText }),
  })
  .transform(({ id, function: called }) => ({ id, type: 'function' as const, function: called }));
export type ToolCall = z.output<typeof ToolCall>;
