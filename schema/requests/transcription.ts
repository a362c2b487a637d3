import { z } from 'zod';
import { limits } from '../limits.ts';
import { intentMembers, ModelId, svcMembers } from './paid-work.ts';
import { wellFormedText } from './text.ts';

/* The form of POST /v1/audio/transcriptions. */

/** What audio may come in, by the ending of a file's name, and the media type by which each is told of. */
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

/** By its name, or else by its media type; null where neither says it. Nothing else of a name is kept. */
export function audioFormatOf(name: string, media_type: string): AudioFormat | null {
  const ending = name.match(/\.(\w+)$/)?.[1]?.toLowerCase();
  const subtype = media_type.match(/^(?:audio|video)\/(?:x-)?(\w+)$/i)?.[1]?.toLowerCase();
  return formats.find(format => format === ending) ?? formats.find(format => format === subtype) ?? null;
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Where the audio is: its bytes, or the id under which they came. */
const AudioFile = z
  .object({
    upload: z.string().max(limits.id_chars_max).nullish(),
    base64: z
      .string()
      .max(limits.request_bytes_max)
      .refine(text => text.length % 4 === 0 && BASE64.test(text), { error: 'is not base64' })
      .nullish(),
    format: z.enum(formats),
  })
  .refine(({ upload, base64 }) => (upload ?? null) === null || (base64 ?? null) === null, {
    error: 'comes in two ways',
  })
  .refine(({ upload, base64 }) => (upload ?? base64 ?? null) !== null, { error: 'has no bytes' });

/** All of a request but its file. */
const members = {
  model: ModelId,
  language: z
    .string()
    .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,2}$/, { error: 'is no language tag' })
    .nullable()
    .default(null)
    .describe('Of what is spoken, as ISO 639-1.'),
  prompt: wellFormedText
    .max(limits.transcription_prompt_chars_max)
    .nullable()
    .default(null)
    .describe('What the model may take its style and spelling from.'),
  response_format: z
    .enum(['json', 'text', 'verbose_json'])
    .nullish()
    .transform(given => given ?? 'json')
    .describe('`text` is the bare text: the receipt is then in the headers alone.'),
  temperature: z.number().min(0).max(1).nullable().default(null),
  timestamp_granularities: z
    .array(z.literal('segment'))
    .max(1)
    .nullish()
    .describe('Segments come with `verbose_json`; words do not.'),
  stream: z.literal(false).nullish().describe('A transcription comes in one piece.'),
  ...intentMembers,
  ...svcMembers,
} as const;

/** A request whose file is told of by `file`. What can be said in one way only is left out of what is kept. */
export function transcriptionWith<F extends z.ZodType>(file: F) {
  return z
    .object({ file, ...members })
    .transform(({ stream: _, timestamp_granularities: _granularities, svc, ...rest }) => ({
      ...rest,
      ...(svc ? { svc } : {}),
    }));
}

export const TranscriptionRequest = transcriptionWith(AudioFile);
export type TranscriptionRequest = z.output<typeof TranscriptionRequest>;
