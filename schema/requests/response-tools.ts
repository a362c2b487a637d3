import { z } from 'zod';
import { limits } from '../limits.ts';
import { listOf, wellFormedText } from './parse.ts';
import { ResponseFormat, schemaMembers } from './response-format.ts';
import { functionMembers, ToolMode, toolOf, toolsOf } from './tools.ts';
import { only } from './unserved.ts';

/* As the Responses API spells them, without the inner object that a chat has, and as a chat spells them. */

const hosted = {
  error: ({ input }: { readonly input?: unknown }) =>
    `${String(input).slice(0, limits.tool_name_chars_max)} is not served here: tools are functions, and the caller runs them`,
};

const Tool = z.object({ type: z.literal('function', hosted), ...functionMembers }).transform(toolOf);
export const ResponseTools = toolsOf(Tool);

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
export const ResponseToolChoice = z.union([ToolMode, Named, Allowed]).nullish();

const Format = z.union([
  z
    .object({ type: z.literal('json_schema'), ...schemaMembers })
    .transform(({ type, ...json_schema }) => ({ type, json_schema })),
  ResponseFormat,
]);

export const ResponseText = z
  .object({ format: Format, verbosity: only('it would mean something else at each hub', 'medium') })
  .nullish();
