import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject, present } from '../canonical-json.ts';
import { limits } from '../limits.ts';
import { listOf, wellFormedText } from './parse.ts';

interface ObjectBounds {
  readonly depth_max: number;
  readonly members_max: number;
}

/**
 * An object of the caller's own, handed on as it is: nothing in it is read, but all of it must have a canonical form
 * (RFC 8785), since the payment is bound to it, and be no larger than whoever walks it can bear.
 */
function jsonObject(bounds: ObjectBounds) {
  return z
    .custom<JsonObject>(isJsonObject, { error: 'must be an object' })
    .superRefine((value, context) => {
      const fault = new Walk(bounds).faultIn(value, 1);
      if (fault) context.addIssue({ code: 'custom', message: fault });
    })
    .meta({ type: 'object' });
}

class Walk {
  readonly #bounds: ObjectBounds;
  #members = 0;

  constructor(bounds: ObjectBounds) {
    this.#bounds = bounds;
  }

  faultIn(value: Json, depth: number): string | null {
    if (typeof value === 'string') return value.isWellFormed() ? null : 'holds half of a surrogate pair';
    // What JSON spells 1e400 is parsed as Infinity, which has no spelling.
    if (typeof value === 'number') return Number.isFinite(value) ? null : 'holds a number beyond every other';
    if (typeof value !== 'object' || value === null) return null;
    const { depth_max, members_max } = this.#bounds;
    if (depth > depth_max) return `lies in itself more than ${depth_max} deep`;
    const members = Object.entries(value);
    this.#members += members.length;
    if (this.#members > members_max) return `has more than ${members_max} members`;
    for (const [name, member] of members) {
      const fault = this.faultIn(name, depth) ?? this.faultIn(member, depth + 1);
      if (fault) return fault;
    }
    return null;
  }
}

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

/* One message of a chat. */

const DATA = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/;

/** Never fetched by us: whoever answers looks at it. A `data:` URL is as long as the body may be. */
export const ImageUrl = wellFormedText.refine(isImageUrl, {
  error: `is neither an https URL of up to ${limits.image_url_chars_max} characters nor a data: URL of a PNG, JPEG, GIF or WebP in base64`,
});

function isImageUrl(url: string): boolean {
  if (url.startsWith('data:')) return DATA.test(url);
  return url.length <= limits.image_url_chars_max && URL.parse(url)?.protocol === 'https:';
}

export const ImageDetail = z.enum(['auto', 'low', 'high']).nullish();

const TEXT_PARTS = 'is not served here: content is text';
const IMAGE_PARTS = 'is not served here: content is text, and images where the model takes them';

const Text = z.object({ type: z.literal('text', TEXT_PARTS), text: wellFormedText });
const Image = z
  .object({ type: z.literal('image_url'), image_url: z.object({ url: ImageUrl, detail: ImageDetail }) })
  .transform(({ type, image_url }) => ({ type, image_url: present(image_url) }));
const Refused = z
  .object({ type: z.literal('refusal'), refusal: wellFormedText })
  .transform(({ refusal }) => ({ type: 'text' as const, text: refusal }));

export type TextPart = z.output<typeof Text>;
export type ImagePart = z.output<typeof Image>;
export type Part = TextPart | ImagePart;

const textual = z.union([wellFormedText, listOf(Text, limits.content_parts_max)]).nonoptional();
const seen = z
  .union([
    wellFormedText,
    listOf(z.discriminatedUnion('type', [Text, Image], { error: IMAGE_PARTS }), limits.content_parts_max),
  ])
  .nonoptional();
const answered = z
  .union([
    wellFormedText,
    listOf(z.discriminatedUnion('type', [Text, Refused], { error: TEXT_PARTS }), limits.content_parts_max),
  ])
  .nullish();

const calls = listOf(ToolCall, limits.tool_calls_max).nullish();

const spoken = z.discriminatedUnion('role', [
  z.object({ role: z.enum(['system', 'developer']), content: textual }),
  z.object({ role: z.literal('user'), content: seen }),
  z
    .object({ role: z.literal('assistant'), content: answered, tool_calls: calls, refusal: wellFormedText.nullish() })
    .refine(({ content, tool_calls, refusal }) => content != null || tool_calls || refusal, {
      error: 'is missing, and so are calls of tools',
      path: ['content'],
    }),
  z.object({
    role: z.literal('tool'),
    tool_call_id: wellFormedText.min(1).max(limits.tool_call_id_chars_max),
    content: textual,
  }),
]);

/** In one form: text in parts is joined; where there is an image `parts` stands instead of `content`. */
export type ChatRequestMessage = JsonObject & {
  /** `system`, `developer`, `user`, `assistant` or `tool`. */
  readonly role: string;
  readonly content?: string | null;
  readonly parts?: readonly Part[];
  readonly tool_calls?: readonly ToolCall[];
  readonly refusal?: string;
  readonly tool_call_id?: string;
};

/** One message, as OpenAI spells it; by GraphQL, where `content` is text, a list of parts comes as `parts`. */
export const ChatRequestMessage = z.preprocess(partsAsContent, spoken.transform(canonical));

function partsAsContent(message: unknown): unknown {
  if (!isJsonObject(message) || !('parts' in message)) return message;
  const { parts, ...rest } = message;
  return rest.content == null && parts != null ? { ...rest, content: parts } : rest;
}

function canonical({ role, content, ...rest }: z.output<typeof spoken>): ChatRequestMessage {
  const parts = typeof content === 'object' && content !== null ? content : null;
  if (parts?.some(part => part.type === 'image_url')) return { role, parts } as ChatRequestMessage;
  const text = parts ? parts.map(part => ('text' in part ? part.text : '')).join('') : (content ?? null);
  return { role, content: text as string | null, ...present(rest) };
}

/** Where the first image of a list of messages stands, in the list as it was sent; null where there is none. */
export function imageAt(messages: readonly ChatRequestMessage[]): string | null {
  for (const [index, { parts }] of messages.entries()) {
    const part = parts?.findIndex(({ type }) => type === 'image_url') ?? -1;
    if (part !== -1) return `${index}.content.${part}`;
  }
  return null;
}
