import { z } from 'zod';
import type { JsonObject } from '../canonical-json.ts';
import { limits } from '../limits.ts';
import { Schema, ToolName } from './chat-message.ts';
import { ImageUrl } from './content.ts';
import { besideKnown, inlined } from './forwarded/extra.ts';
import { openPlace } from './forwarded/foreign-members.ts';
import { listOf } from './parse.ts';
import { wellFormedText } from './text.ts';

/*
 * The turns of POST /v1/messages, block by block, as Anthropic's Messages API spells them (https://platform.claude.com/docs/en/api/messages).
 * A block keeps its spelling: a hub of that dialect takes it as it is, and any other the chat that it comes to. What stands in a turn or a
 * block beside its known members is kept as it came.
 */

/** An object of a request, with whatever stands beside its known members. A member without a value is one that is not there. */
export function openObject<S extends z.ZodRawShape>(shape: S) {
  const place = openPlace(Object.keys(shape));
  return z.looseObject(shape).transform((given, context) => inlined(given as JsonObject, place, context));
}

/** The known members of such an object. */
export function knownIn({ in: { shape } }: { readonly in: { readonly shape: object } }): ReadonlySet<string> {
  return new Set(Object.keys(shape));
}

const Id = wellFormedText.min(1).max(limits.tool_call_id_chars_max);

const CACHE_MARK = '`{type: "ephemeral"}`. Changes nothing about the answer.';
const Mark = openObject({
  type: z.literal('ephemeral'),
  ttl: z.enum(['5m', '1h']).nullish(),
  scope: wellFormedText.max(limits.cache_scope_chars_max).nullish(),
});
export const CacheControl = Mark.nullish().meta({ scalar: 'JSONObject' }).describe(CACHE_MARK);
export const markMembers = knownIn(Mark);

const marked = { cache_control: CacheControl } as const;

/** As they are kept. Members beside `type` are those of the block's kind, and such as nobody here knows. */
export type MessageBlock = JsonObject & { readonly type: string };

const NO_CITATIONS = 'is not supported: answers have no citations';
const Citations = z.strictObject({ enabled: z.literal(false, NO_CITATIONS).optional() }).nullish();

const Text = openObject({
  type: z.literal('text'),
  text: wellFormedText,
  citations: z
    .array(Schema)
    .nullish()
    .describe('Citations of an earlier answer, sent back unchanged.')
    .transform(given => (given?.length ? given : undefined)),
  ...marked,
});

const NOT_KEPT = 'is not supported: no files are stored, so send the content of the file';
const base64 = z.string().regex(/^[A-Za-z0-9+/]+={0,2}$/, { error: 'is not base64' });

const ImageData = openObject({
  type: z.literal('base64'),
  media_type: z.enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp']),
  data: base64,
});
const ImageLink = openObject({ type: z.literal('url'), url: ImageUrl });
const Image = openObject({
  type: z.literal('image'),
  source: z.discriminatedUnion('type', [ImageData, ImageLink], { error: NOT_KEPT }),
  ...marked,
});

const InDocument = z.discriminatedUnion('type', [Text, Image]);
const PDF_ONLY = 'is not supported: a base64 document must be a PDF';
const DocumentText = openObject({
  type: z.literal('text'),
  media_type: z.literal('text/plain'),
  data: wellFormedText,
});
const DocumentContent = openObject({
  type: z.literal('content'),
  content: z.union([wellFormedText, listOf(InDocument, limits.content_parts_max)]),
});
const DocumentData = openObject({
  type: z.literal('base64'),
  media_type: z.literal('application/pdf', PDF_ONLY),
  data: base64,
});
const DocumentSource = z.discriminatedUnion('type', [DocumentText, DocumentContent, DocumentData], {
  error: 'is not supported: no files are stored or fetched, so send the content of the file',
});

/** Known members of what an image or a document is made of, by its kind. */
export const sourceMembers: Readonly<Record<string, ReadonlySet<string>>> = {
  base64: knownIn(ImageData),
  url: knownIn(ImageLink),
  text: knownIn(DocumentText),
  content: knownIn(DocumentContent),
};
const Document = openObject({
  type: z.literal('document'),
  source: DocumentSource,
  title: wellFormedText.nullish(),
  context: wellFormedText.nullish(),
  citations: Citations.transform(() => undefined),
  ...marked,
});

const SearchResult = openObject({
  type: z.literal('search_result'),
  source: wellFormedText,
  title: wellFormedText,
  content: listOf(Text, limits.content_parts_max),
  citations: Citations.transform(() => undefined),
  ...marked,
});

/** What may be called without us: by the model itself, and not by a program of the hub's. */
const Caller = z
  .strictObject({ type: z.literal('direct', 'is not supported: only the model calls tools') })
  .nullish()
  .transform(() => undefined);

const ToolUse = openObject({
  type: z.literal('tool_use'),
  id: Id,
  name: ToolName,
  input: z
    .union([Schema, wellFormedText])
    .describe('Input of the tool: an object, or a text if the model wrote something that is no JSON object.'),
  caller: Caller,
  ...marked,
});

const RESULTS = 'is not supported: a result may contain text, images, documents and search results';
const ToolResult = openObject({
  type: z.literal('tool_result'),
  tool_use_id: Id,
  content: z
    .union([
      wellFormedText.transform(text => [{ type: 'text', text }] as MessageBlock[]),
      listOf(
        z.discriminatedUnion('type', [Text, Image, Document, SearchResult], { error: RESULTS }),
        limits.content_parts_max,
        0,
      ),
    ])
    .nullish(),
  is_error: z
    .boolean()
    .nullish()
    .transform(given => given || undefined),
  ...marked,
});

const UNSIGNED = 'is not supported: thinking without a signature is passed on as its text alone';
const Thinking = openObject({
  type: z.literal('thinking'),
  thinking: wellFormedText,
  signature: wellFormedText.default(''),
}).superRefine((block, context) => {
  if (block.signature !== '') return;
  for (const name of Object.keys(besideKnown(block, thinkingMembers)))
    context.addIssue({ code: 'custom', path: [name], message: UNSIGNED });
});
const thinkingMembers = knownIn(Thinking);
const RedactedThinking = openObject({ type: z.literal('redacted_thinking'), data: wellFormedText });

/** Known members of each kind of block. */
export const blockMembers: Readonly<Record<string, ReadonlySet<string>>> = {
  text: knownIn(Text),
  image: knownIn(Image),
  document: knownIn(Document),
  search_result: knownIn(SearchResult),
  tool_use: knownIn(ToolUse),
  tool_result: knownIn(ToolResult),
  thinking: thinkingMembers,
  redacted_thinking: knownIn(RedactedThinking),
};

const CLIENT_ONLY = 'is not supported: hubs run no tools of their own';

/** A text is one block of it. */
function contentOf<S extends z.ZodType<JsonObject>>(blocks: S) {
  return z
    .union([
      wellFormedText.transform(text => [{ type: 'text', text }] as MessageBlock[]),
      listOf(blocks, limits.content_parts_max),
    ])
    .nonoptional();
}

export const SystemBlocks = contentOf(Text);

/** One turn; `system` stands among them where a client says so in the midst of a conversation. */
export const MessageTurn = z.discriminatedUnion('role', [
  openObject({
    role: z.literal('user'),
    content: contentOf(
      z.discriminatedUnion('type', [Text, Image, Document, SearchResult, ToolResult], { error: CLIENT_ONLY }),
    ),
  }),
  openObject({
    role: z.literal('assistant'),
    content: z
      .union([
        wellFormedText.transform(text => [{ type: 'text', text }] as MessageBlock[]),
        // A turn that spent its tokens before a word is sent back like any other.
        listOf(
          z.discriminatedUnion('type', [Text, Thinking, RedactedThinking, ToolUse], { error: CLIENT_ONLY }),
          limits.content_parts_max,
          0,
        ),
      ])
      .nonoptional(),
  }),
  openObject({ role: z.literal('system'), content: SystemBlocks }),
]);
export type MessageTurn = JsonObject & {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: readonly MessageBlock[];
};
export const turnMembers: ReadonlySet<string> = new Set(['role', 'content']);
