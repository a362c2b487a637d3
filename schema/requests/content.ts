import { z } from 'zod';
import type { JsonObject } from '../canonical-json.ts';
import { limits } from '../limits.ts';
import { inlined, type OpenPlace } from './forwarded/extra.ts';
import { openPlace } from './forwarded/foreign-members.ts';
import { listOf } from './parse.ts';
import { wellFormedText } from './text.ts';

/* What a message of a chat says, as OpenAI spells it: a text, or parts of a text, of images, of sound and of files. */

const IMAGE_DATA = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/;
const FILE_DATA = new RegExp(
  `^data:[a-z]+/[A-Za-z0-9.+-]{1,${limits.media_subtype_chars_max}};base64,[A-Za-z0-9+/]+={0,2}$`,
);
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Never fetched by us: whoever answers looks at it. A `data:` URL is as long as the body may be. */
export const ImageUrl = urlOf(IMAGE_DATA, 'of a PNG, JPEG, GIF or WebP');
export const FileData = urlOf(FILE_DATA, 'with its media type');

function urlOf(data: RegExp, kind: string) {
  const error = `is neither an https URL of up to ${limits.image_url_chars_max} characters nor a data: URL ${kind} in base64`;
  return wellFormedText.refine(
    url => {
      if (url.startsWith('data:')) return data.test(url);
      return url.length <= limits.image_url_chars_max && URL.parse(url)?.protocol === 'https:';
    },
    { error },
  );
}

export const ImageDetail = z.enum(['auto', 'low', 'high']).nullish();
/** wav and mp3 at OpenAI; others know more. */
export const AudioPartFormat = z
  .string()
  .regex(
    new RegExp(`^[a-z0-9]{1,${limits.audio_part_format_chars_max}}$`),
    'must be the file extension of an audio format, such as wav or mp3',
  );
export const AudioPartData = wellFormedText.regex(BASE64, 'is not base64');
export const FileName = wellFormedText.max(limits.tool_call_id_chars_max).nullish();

export const NOT_KEPT = 'is not supported: nothing is stored, so send the content itself';

const TEXT_PARTS = 'is not supported: this content must be text';
const USER_PARTS =
  'is not supported: content may be text and, if the model accepts them, images, input_audio and files';

export const partPlaces = {
  text: openPlace(['type', 'text'], { without_effect_empty: ['annotations'] }),
  refusal: openPlace(['type', 'refusal']),
  image_url: openPlace(['type', 'image_url']),
  input_audio: openPlace(['type', 'input_audio']),
  file: openPlace(['type', 'file']),
} as const;
export const imagePlace = openPlace(['url', 'detail']);
const audioPlace = openPlace(['data', 'format']);
export const filePlace = openPlace(['file_data', 'filename', 'file_id']);

/** Passed on as it came, with what it holds beside its known members: `member` names the object within it that is open as well. */
function partOf(place: OpenPlace, member: string | null = null, within: OpenPlace | null = null) {
  return (given: object, context: z.core.$RefinementCtx): JsonObject => {
    const part = inlined(given as JsonObject, place, context);
    if (member === null || within === null) return part;
    return { ...part, [member]: inlined(part[member] as JsonObject, within, context, [member]) };
  };
}

const Text = z
  .looseObject({ type: z.literal('text', TEXT_PARTS), text: wellFormedText })
  .transform((given, context) => partOf(partPlaces.text)(given, context) as TextPart);
const Image = z
  .looseObject({ type: z.literal('image_url'), image_url: z.looseObject({ url: ImageUrl, detail: ImageDetail }) })
  .transform((given, context) => partOf(partPlaces.image_url, 'image_url', imagePlace)(given, context) as OtherPart);
const Audio = z
  .looseObject({
    type: z.literal('input_audio'),
    input_audio: z.looseObject({ data: AudioPartData, format: AudioPartFormat }),
  })
  .transform(
    (given, context) => partOf(partPlaces.input_audio, 'input_audio', audioPlace)(given, context) as OtherPart,
  );
const File = z
  .looseObject({
    type: z.literal('file'),
    file: z.looseObject({ file_data: FileData, filename: FileName, file_id: z.null(NOT_KEPT).optional() }),
  })
  .transform((given, context) => partOf(partPlaces.file, 'file', filePlace)(given, context) as OtherPart);
const Refused = z
  .looseObject({ type: z.literal('refusal'), refusal: wellFormedText })
  .transform((given, context): TextPart => {
    const { refusal, ...part } = partOf(partPlaces.refusal)(given, context);
    return { ...part, type: 'text', text: String(refusal) };
  });

export interface TextPart extends JsonObject {
  readonly type: 'text';
  readonly text: string;
}
/** Parts that only some models take. */
export const partKinds = ['image_url', 'input_audio', 'file'] as const;
export type PartKind = (typeof partKinds)[number];
interface OtherPart extends JsonObject {
  readonly type: PartKind;
}
export type Part = TextPart | OtherPart;

export const TextContent = z.union([wellFormedText, listOf(Text, limits.content_parts_max)]).nonoptional();
export const UserContent = z
  .union([
    wellFormedText,
    listOf(z.discriminatedUnion('type', [Text, Image, Audio, File], { error: USER_PARTS }), limits.content_parts_max),
  ])
  .nonoptional();
/** An empty list is what a turn without a word is sent back as. */
export const AnsweredContent = z
  .union([
    wellFormedText,
    listOf(z.discriminatedUnion('type', [Text, Refused], { error: TEXT_PARTS }), limits.content_parts_max, 0),
  ])
  .nullish();

/** In one form: parts that are nothing but text are joined; all others stand as they came. */
export function canonicalContent(
  content: string | readonly Part[] | null | undefined,
): { readonly content: string | null } | { readonly parts: readonly Part[] } {
  if (typeof content === 'string' || content == null) return { content: content ?? null };
  if (content.length === 0) return { content: null };
  if (!content.every(isPlainText)) return { parts: content };
  return { content: content.map(({ text }) => text).join('') };
}

/** Whether it holds nothing but its text. */
export function isPlainText(part: Part): part is TextPart {
  return part.type === 'text' && Object.keys(part).length === 2;
}
