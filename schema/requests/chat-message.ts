import { z } from 'zod';
import { isJsonObject, type JsonObject, present } from '../canonical-json.ts';
import { limits } from '../limits.ts';
import { listOf, wellFormedText } from './parse.ts';
import { ToolCall } from './tools.ts';

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
export type ChatMessage = JsonObject & {
  /** `system`, `developer`, `user`, `assistant` or `tool`. */
  readonly role: string;
  readonly content?: string | null;
  readonly parts?: readonly Part[];
  readonly tool_calls?: readonly ToolCall[];
  readonly refusal?: string;
  readonly tool_call_id?: string;
};

/** One message, as OpenAI spells it; by GraphQL, where `content` is text, a list of parts comes as `parts`. */
export const ChatMessage = z.preprocess(partsAsContent, spoken.transform(canonical));

function partsAsContent(message: unknown): unknown {
  if (!isJsonObject(message) || !('parts' in message)) return message;
  const { parts, ...rest } = message;
  return rest.content == null && parts != null ? { ...rest, content: parts } : rest;
}

function canonical({ role, content, ...rest }: z.output<typeof spoken>): ChatMessage {
  const parts = typeof content === 'object' && content !== null ? content : null;
  if (parts?.some(part => part.type === 'image_url')) return { role, parts } as ChatMessage;
  const text = parts ? parts.map(part => ('text' in part ? part.text : '')).join('') : (content ?? null);
  return { role, content: text as string | null, ...present(rest) };
}

/** Where the first image of a list of messages stands, in the list as it was sent; null where there is none. */
export function imageAt(messages: readonly ChatMessage[]): string | null {
  for (const [index, { parts }] of messages.entries()) {
    const part = parts?.findIndex(({ type }) => type === 'image_url') ?? -1;
    if (part !== -1) return `${index}.content.${part}`;
  }
  return null;
}
