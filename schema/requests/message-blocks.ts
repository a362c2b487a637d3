import { z } from 'zod';
import type { JsonObject } from '../canonical-json.ts';
import { limits } from '../limits.ts';
import { Schema, ToolName } from './chat-message.ts';
import { ImageUrl } from './content.ts';
import { inlineExtra, membersExcept } from './forwarded/extra.ts';
import { openPlace } from './forwarded/foreign-members.ts';
import { listOf } from './parse.ts';
import { wellFormedText } from './text.ts';

/*
 * Turns and blocks of POST /v1/messages in the form of Anthropic's Messages API (https://platform.claude.com/docs/en/api/messages). They
 * keep that form: a hub of Anthropic's dialect receives them unchanged, any other hub the chat that they are translated to. Unknown members
 * of a turn or block are kept unchanged.
 */

/** An object with known and unknown members. Null is the same as absent. */
export function openObject<S extends z.ZodRawShape>(shape: S) {
  const place = openPlace(Object.keys(shape));
  return z.looseObject(shape).transform((given, context) => inlineExtra(given as JsonObject, place, context));
}

/** The known members of such an object. */
export function memberNamesOf({ in: { shape } }: { readonly in: { readonly shape: object } }): ReadonlySet<string> {
  return new Set(Object.keys(shape));
}

const Id = wellFormedText
  .min(1)
  .max(limits.tool_call_id_chars_max)
  .describe('Id of the tool call, as the answer of the model has it.');

const CACHE_MARK = 'Cache marker `{type: "ephemeral"}`. It does not change the answer. Default: none.';
const Mark = openObject({
  type: z.literal('ephemeral'),
  ttl: z.enum(['5m', '1h']).nullish().describe('Lifetime of the cache entry: `5m` or `1h`. Default: the hub decides.'),
  scope: wellFormedText
    .max(limits.cache_scope_chars_max)
    .nullish()
    .describe('Scope of the cache entry, for hubs with Anthropic’s API. Default: none.'),
});
export const CacheControl = Mark.nullish().meta({ scalar: 'JSONObject' }).describe(CACHE_MARK);
export const markMembers = memberNamesOf(Mark);

const marked = { cache_control: CacheControl } as const;

/** A block in canonical form: the members of its kind, and unknown members. */
export type MessageBlock = JsonObject & { readonly type: string };

const NO_CITATIONS = 'is not supported: answers have no citations';
const Citations = z
  .strictObject({ enabled: z.literal(false, NO_CITATIONS).optional().describe('Always false, or left out.') })
  .nullish()
  .describe('Only `{enabled: false}`, the default: answers have no citations.');

const withoutCitations = Citations.transform(() => undefined).describe(Citations.description ?? '');

const Text = openObject({
  type: z.literal('text'),
  text: wellFormedText.describe('Text of the block.'),
  citations: z
    .array(Schema)
    .nullish()
    .describe('Citations of an earlier answer, sent back unchanged. Default: none.')
    .transform(given => (given?.length ? given : undefined)),
  ...marked,
});

const NOT_KEPT = 'is not supported: no files are stored, so send the content of the file';
const base64 = z
  .string()
  .regex(/^[A-Za-z0-9+/]+={0,2}$/, { error: 'is not base64' })
  .describe('Bytes of the image or PDF, in base64.');

const ImageData = openObject({
  type: z.literal('base64'),
  media_type: z.enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp']).describe('Media type of the image.'),
  data: base64,
});
const ImageLink = openObject({ type: z.literal('url'), url: ImageUrl });
const Image = openObject({
  type: z.literal('image'),
  source: z
    .discriminatedUnion('type', [ImageData, ImageLink], { error: NOT_KEPT })
    .describe('The image: its bytes, or its URL.'),
  ...marked,
});

const InDocument = z.discriminatedUnion('type', [Text, Image]);
const PDF_ONLY = 'is not supported: a base64 document must be a PDF';
const DocumentText = openObject({
  type: z.literal('text'),
  media_type: z.literal('text/plain'),
  data: wellFormedText.describe('Text of the document.'),
});
const DocumentContent = openObject({
  type: z.literal('content'),
  content: z
    .union([wellFormedText, listOf(InDocument, limits.content_parts_max)])
    .describe('Content of the document: a text, or blocks of texts and images.'),
});
const DocumentData = openObject({
  type: z.literal('base64'),
  media_type: z.literal('application/pdf', PDF_ONLY),
  data: base64,
});
const DocumentSource = z.discriminatedUnion('type', [DocumentText, DocumentContent, DocumentData], {
  error: 'is not supported: no files are stored or fetched, so send the content of the file',
});

/** Known members of the source of an image or document, by its kind. */
export const sourceMembers: Readonly<Record<string, ReadonlySet<string>>> = {
  base64: memberNamesOf(ImageData),
  url: memberNamesOf(ImageLink),
  text: memberNamesOf(DocumentText),
  content: memberNamesOf(DocumentContent),
};
const Document = openObject({
  type: z.literal('document'),
  source: DocumentSource.describe('The document: a text, blocks, or the bytes of a PDF.'),
  title: wellFormedText.nullish().describe('Title of the document. Default: none.'),
  context: wellFormedText.nullish().describe('Notes about the document, for the model. Default: none.'),
  citations: withoutCitations,
  ...marked,
});

const SearchResult = openObject({
  type: z.literal('search_result'),
  source: wellFormedText.describe('URL or name of the source in which the result was found.'),
  title: wellFormedText.describe('Title of the search result.'),
  content: listOf(Text, limits.content_parts_max).describe('Text of the search result, as blocks of text.'),
  citations: withoutCitations,
  ...marked,
});

/** The caller of a tool: only the model itself, not a program of the hub. */
const Caller = z
  .strictObject({ type: z.literal('direct', 'is not supported: only the model calls tools') })
  .nullish()
  .transform(() => undefined)
  .describe('Caller of the tool. Only `{type: "direct"}`, the default: the model itself.');

const ToolUse = openObject({
  type: z.literal('tool_use'),
  id: Id,
  name: ToolName,
  input: z
    .union([Schema, wellFormedText])
    .describe('Input of the tool: an object, or a text if the model wrote something that is not a JSON object.'),
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
    .nullish()
    .describe('Result of the tool: a text, or blocks of text, images, documents and search results. Default: empty.'),
  is_error: z
    .boolean()
    .nullish()
    .transform(given => given || undefined)
    .describe('True if the tool failed. Default: false.'),
  ...marked,
});

const UNSIGNED = 'is not supported: thinking without a signature is passed on as its text alone';
const Thinking = openObject({
  type: z.literal('thinking'),
  thinking: wellFormedText.describe('Text of the thinking, as the answer of the model had it.'),
  signature: wellFormedText
    .default('')
    .describe(
      'Signature of the thinking, as the answer of the model had it. Default: empty; the thinking is then not sent to hubs with Anthropic’s API, and to others as text.',
    ),
}).superRefine((block, context) => {
  if (block.signature !== '') return;
  for (const name of Object.keys(membersExcept(block, thinkingMembers)))
    context.addIssue({ code: 'custom', path: [name], message: UNSIGNED });
});
const thinkingMembers = memberNamesOf(Thinking);
const RedactedThinking = openObject({
  type: z.literal('redacted_thinking'),
  data: wellFormedText.describe('Encrypted thinking, as the answer of the model had it.'),
});

/** Known members of each kind of block. */
export const blockMembers: Readonly<Record<string, ReadonlySet<string>>> = {
  text: memberNamesOf(Text),
  image: memberNamesOf(Image),
  document: memberNamesOf(Document),
  search_result: memberNamesOf(SearchResult),
  tool_use: memberNamesOf(ToolUse),
  tool_result: memberNamesOf(ToolResult),
  thinking: thinkingMembers,
  redacted_thinking: memberNamesOf(RedactedThinking),
};

const CLIENT_ONLY = 'is not supported: hubs run no tools of their own';

/** A text is the same as one block of text. */
function contentOf<S extends z.ZodType<JsonObject>>(blocks: S) {
  return z
    .union([
      wellFormedText.transform(text => [{ type: 'text', text }] as MessageBlock[]),
      listOf(blocks, limits.content_parts_max),
    ])
    .nonoptional()
    .describe('Content of the turn: a text, or a list of blocks.');
}

export const SystemBlocks = contentOf(Text);

/** One turn. Some clients send a `system` turn in the middle of a conversation. */
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
        // An empty turn is allowed: the model may have spent all tokens on thinking.
        listOf(
          z.discriminatedUnion('type', [Text, Thinking, RedactedThinking, ToolUse], { error: CLIENT_ONLY }),
          limits.content_parts_max,
          0,
        ),
      ])
      .nonoptional()
      .describe('Content of the turn: a text, or a list of blocks.'),
  }),
  openObject({ role: z.literal('system'), content: SystemBlocks }),
]);
export type MessageTurn = JsonObject & {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: readonly MessageBlock[];
};
export const turnMembers: ReadonlySet<string> = new Set(['role', 'content']);
