import { z } from 'zod';
import { limits } from '../limits.ts';
import { restOnly } from '../noun.ts';
import { intentMembers, ModelId, svcMembers } from './paid-work.ts';
import { wellFormedText } from './text.ts';

/* The form of POST /v1/audio/transcriptions. */

/** Accepted audio formats by file extension, each with the media type under which it is sent. */
export const audioFormats = {
  flac: 'audio/flac',
  m4a: 'audio/m4a',
  mp3: 'audio/mpeg',
  mp4: 'audio/mp4',
  mpeg: 'audio/mpeg',
  mpga: 'audio/mpeg',
  oga: 'audio/ogg',
  ogg: 'audio/ogg',
  wav: 'audio/wav',
  webm: 'audio/webm',
} as const;
export type AudioFormat = keyof typeof audioFormats;

const formats = Object.keys(audioFormats) as [AudioFormat, ...AudioFormat[]];

/**
 * Format by the file extension, otherwise by the media type. Null if neither is known. The rest of the name is discarded, because it may
 * identify the caller.
 */
export function audioFormatOf(name: string, media_type: string): AudioFormat | null {
  const ending = name.match(/\.(\w+)$/)?.[1]?.toLowerCase();
  const subtype = media_type.match(/^(?:audio|video)\/(?:x-)?(\w+)$/i)?.[1]?.toLowerCase();
  return formats.find(format => format === ending) ?? formats.find(format => format === subtype) ?? null;
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** The audio: its bytes, or the id of an upload. */
export const AudioFile = z
  .object({
    upload: z
      .string()
      .max(limits.id_chars_max)
      .nullish()
      .describe('Id that this service assigns to a file sent by REST or MCP. A GraphQL client sends `base64` instead.'),
    base64: z
      .string()
      .max(limits.request_bytes_max)
      .refine(text => text.length % 4 === 0 && BASE64.test(text), { error: 'is not base64' })
      .nullish()
      .describe(
        `Bytes of the file, in base64. The whole request has at most ${limits.request_bytes_max / 1_024} KiB. Send either this or \`upload\`.`,
      ),
    format: z.enum(formats).describe(`Format of the audio: ${formats.join(', ')}.`),
  })
  .refine(({ upload, base64 }) => (upload ?? null) === null || (base64 ?? null) === null, {
    error: 'has both `upload` and `base64`: send one of them',
  })
  .refine(({ upload, base64 }) => (upload ?? base64 ?? null) !== null, { error: 'requires `upload` or `base64`' });

/** Members of a request other than its file. */
const members = {
  model: ModelId,
  language: z
    .string()
    .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,2}$/, { error: 'is not a language tag such as en or en-GB' })
    .nullable()
    .default(null)
    .describe('Language that is spoken, as a tag such as `en` or `en-GB`. Default: the model detects the language.'),
  prompt: wellFormedText
    .max(limits.transcription_prompt_chars_max)
    .nullable()
    .default(null)
    .describe(
      `Text whose words, style and spelling guide the model, up to ${limits.transcription_prompt_chars_max} characters. Default: none.`,
    ),
  response_format: z
    .enum(['json', 'text', 'verbose_json'])
    .nullish()
    .transform(given => given ?? 'json')
    .describe(
      '`json` (default), `text` or `verbose_json`, which adds language, duration and segments. Over REST, `text` answers with the bare text, and the receipt is in the headers only.',
    ),
  temperature: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .default(null)
    .describe('Sampling temperature, 0 to 1: a higher value makes the text more random. Default: the model decides.'),
  ...restOnly({
    timestamp_granularities: z
      .array(z.literal('segment'))
      .max(1)
      .nullish()
      .describe(
        'Accepts only `["segment"]`, an empty list or null: segments are returned with `verbose_json`, and times of words are not supported.',
      ),
    stream: z
      .literal(false)
      .nullish()
      .describe('Accepts only `false` or null: a transcription is returned in one piece.'),
  }),
  ...intentMembers,
  ...svcMembers,
} as const;

/** A request whose file has the schema `file`. Members with one possible value are left out of the canonical form. */
export function transcriptionWith<F extends z.ZodType>(file: F) {
  return z
    .object({ file, ...members })
    .transform(({ stream: _, timestamp_granularities: _granularities, svc, ...rest }) => ({
      ...rest,
      ...(svc ? { svc } : {}),
    }));
}

export const TranscriptionRequest = transcriptionWith(AudioFile.describe('Audio to transcribe.'));
export type TranscriptionRequest = z.output<typeof TranscriptionRequest>;
