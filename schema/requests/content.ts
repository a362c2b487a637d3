import { z } from 'zod';
import type { JsonObject } from '../canonical-json.ts';
import { limits } from '../limits.ts';
import { inlineExtra, type OpenPlace } from './forwarded/extra.ts';
import { openPlace } from './forwarded/foreign-members.ts';
import { listOf } from './parse.ts';
import { wellFormedText } from './text.ts';

/* Content of a message in the form of OpenAI: a text, or parts of text, images, audio and files. */

const IMAGE_DATA = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/;
const FILE_DATA = new RegExp(
  `^data:[a-z]+/[A-Za-z0-9.+-]{1,${limits.media_subtype_chars_max}};base64,[A-Za-z0-9+/]+={0,2}$`,
);
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** This service does not fetch the URL; the hub does. A `data:` URL may be as long as the body. */
export const ImageUrl = urlOf(IMAGE_DATA, 'of a PNG, JPEG, GIF or WebP').describe(
  `The image: an https URL of up to ${limits.image_url_chars_max} characters, or a \`data:\` URL of a PNG, JPEG, GIF or WebP in base64.`,
);
export const FileData = urlOf(FILE_DATA, 'with its media type').describe(
  `The file: an https URL of up to ${limits.image_url_chars_max} characters, or a \`data:\` URL with its media type, in base64.`,
);

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

export const ImageDetail = z
  .enum(['auto', 'low', 'high'])
  .nullish()
  .describe('Level of detail at which the model reads the image. Default: `auto`.');
/** OpenAI accepts wav and mp3, other hubs more formats. */
export const AudioPartFormat = z
  .string()
  .regex(
    new RegExp(`^[a-z0-9]{1,${limits.audio_part_format_chars_max}}$`),
    'must be the file extension of an audio format, such as wav or mp3',
  )
  .describe('Format of the audio, as its file extension, such as `wav` or `mp3`.');
export const AudioPartData = wellFormedText.regex(BASE64, 'is not base64').describe('Bytes of the audio, in base64.');
export const FileName = wellFormedText
  .max(limits.tool_call_id_chars_max)
  .nullish()
  .describe('Name of the file. Default: none.');

/** The id of a stored file, which OpenAI allows in place of its content. */
export const FileId = z
  .null('is not supported: nothing is stored, so send the content itself')
  .optional()
  .describe('Not supported: files are not stored. Send the content itself.');

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

/** A part with its known and unknown members, passed on unchanged. `member` names an inner object that may have unknown members too. */
function partOf(place: OpenPlace, member: string | null = null, within: OpenPlace | null = null) {
  return (given: object, context: z.core.$RefinementCtx): JsonObject => {
    const part = inlineExtra(given as JsonObject, place, context);
    if (member === null || within === null) return part;
    return { ...part, [member]: inlineExtra(part[member] as JsonObject, within, context, [member]) };
  };
}

const Text = z
  .looseObject({ type: z.literal('text', TEXT_PARTS), text: wellFormedText.describe('Text of this part.') })
  .transform((given, context) => partOf(partPlaces.text)(given, context) as TextPart);
const Image = z
  .looseObject({
    type: z.literal('image_url'),
    image_url: z
      .looseObject({ url: ImageUrl, detail: ImageDetail })
      .describe('The image: its URL, and the detail in which it is read.'),
  })
  .transform((given, context) => partOf(partPlaces.image_url, 'image_url', imagePlace)(given, context) as OtherPart);
const Audio = z
  .looseObject({
    type: z.literal('input_audio'),
    input_audio: z
      .looseObject({ data: AudioPartData, format: AudioPartFormat })
      .describe('The audio: its bytes and format.'),
  })
  .transform(
    (given, context) => partOf(partPlaces.input_audio, 'input_audio', audioPlace)(given, context) as OtherPart,
  );
const File = z
  .looseObject({
    type: z.literal('file'),
    file: z
      .looseObject({ file_data: FileData, filename: FileName, file_id: FileId })
      .describe('The file: its content and name.'),
  })
  .transform((given, context) => partOf(partPlaces.file, 'file', filePlace)(given, context) as OtherPart);
const Refused = z
  .looseObject({
    type: z.literal('refusal'),
    refusal: wellFormedText.describe('Sentence in which the model refused to answer.'),
  })
  .transform((given, context): TextPart => {
    const { refusal, ...part } = partOf(partPlaces.refusal)(given, context);
    return { ...part, type: 'text', text: String(refusal) };
  });

export interface TextPart extends JsonObject {
  readonly type: 'text';
  readonly text: string;
}
/** Parts that only some models accept. */
export const partKinds = ['image_url', 'input_audio', 'file'] as const;
export type PartKind = (typeof partKinds)[number];
interface OtherPart extends JsonObject {
  readonly type: PartKind;
}
export type Part = TextPart | OtherPart;

export const TextContent = z
  .union([wellFormedText, listOf(Text, limits.content_parts_max)])
  .nonoptional()
  .describe('From the system, a developer or a tool: text, or a list of parts of text.');
export const UserContent = z
  .union([
    wellFormedText,
    listOf(z.discriminatedUnion('type', [Text, Image, Audio, File], { error: USER_PARTS }), limits.content_parts_max),
  ])
  .nonoptional()
  .describe('From a user: text, or a list of parts: texts and, if the model accepts them, images, audio and files.');
/** A turn without text is sent back with an empty list. */
export const AnsweredContent = z
  .union([
    wellFormedText,
    listOf(z.discriminatedUnion('type', [Text, Refused], { error: TEXT_PARTS }), limits.content_parts_max, 0),
  ])
  .nullish()
  .describe(
    'From an assistant: text, or a list of parts: texts and refusals. Null or left out if the answer had no text.',
  );

/** Canonical form: parts of plain text are joined to one text; any other list of parts is kept unchanged. */
export function canonicalContent(
  content: string | readonly Part[] | null | undefined,
): { readonly content: string | null } | { readonly parts: readonly Part[] } {
  if (typeof content === 'string' || content == null) return { content: content ?? null };
  if (content.length === 0) return { content: null };
  if (!content.every(isPlainText)) return { parts: content };
  return { content: content.map(({ text }) => text).join('') };
}

/** Whether the part has no member other than its text. */
export function isPlainText(part: Part): part is TextPart {
  return part.type === 'text' && Object.keys(part).length === 2;
}
