import { z } from 'zod';
import { type JsonObject, present } from '../../../../schema/canonical-json.ts';
import { sha256Hex } from '../../../../schema/digest.ts';
import { Refusal } from '../../../../schema/errors.ts';
import { limits } from '../../../../schema/limits.ts';
import { wellFormedText } from '../../../../schema/requests/text.ts';
import {
  type AudioFormat,
  audioFormats,
  type TranscriptionRequest,
} from '../../../../schema/requests/transcription.ts';
import type { WorkThenSettle } from '../../../sale.ts';
import type { OpenedUpload, UploadedFile, Uploads } from '../../../uploads.ts';
import { answerPaid } from '../answer.paid.ts';
import { type Question, readJsonAs } from '../hubs/ask.ts';
import type { Hubs } from '../hubs/open.ts';

/** The audio of a request, by whichever way it came. @throws upload_unknown, before any claim */
export function audioOf({ upload, base64 }: TranscriptionRequest['file'], uploads: Uploads): OpenedUpload {
  if (base64) {
    const bytes = Buffer.from(base64, 'base64');
    return { bytes, sha256: sha256Hex(bytes), release: () => {} };
  }
  const opened = uploads.open(upload ?? '');
  if (opened === null) throw new Refusal('upload_unknown', { param: 'file' });
  return opened;
}

const measure = z.number().nullish();

/** As OpenAI spells them. */
const Segment = z
  .object({
    id: z.int(),
    seek: measure,
    start: z.number(),
    end: z.number(),
    text: wellFormedText,
    tokens: z.array(z.int()).max(limits.transcription_segments_max).nullish(),
    temperature: measure,
    avg_logprob: measure,
    compression_ratio: measure,
    no_speech_prob: measure,
  })
  .transform(present);

/** Its name or its code: "english", "Haitian Creole", "pt-BR". */
const LANGUAGE = /^\p{L}[\p{L}\p{M} ()-]*$/u;

/** As much of a transcription as is passed on. What a hub adds to it stays with us. */
const HubTranscript = z.object({
  text: wellFormedText,
  language: wellFormedText.max(64).nullable().default(null),
  duration: z.coerce.number().min(0).nullable().default(null),
  segments: z.array(Segment).max(limits.transcription_segments_max).nullable().default(null),
});
export type HubTranscript = z.output<typeof HubTranscript>;

/**
 * The hub is sent the bytes and the format of the file, but no name, which may identify the caller. `boundary` does not
 * occur in the file.
 */
function transcriptQuestion(asked: TranscriptionArguments, bytes: Buffer, boundary: string): Question<HubTranscript> {
  const verbose = asked.response_format === 'verbose_json';
  return {
    modality: 'audio',
    path: '/audio/transcriptions',
    added: ['model', 'response_format'],
    body: ({ model }) => ({
      content_type: `multipart/form-data; boundary=${boundary}`,
      bytes: formOf(asked, { bytes, boundary, model }),
    }),
    read(answer) {
      const transcript = readJsonAs(HubTranscript, answer);
      if (transcript === null || (verbose && transcript.segments === null)) return null;
      return verbose ? transcript : { ...transcript, language: null, duration: null, segments: null };
    },
    discreet: ({ language, ...transcript }, tells) => ({
      ...transcript,
      language: language !== null && LANGUAGE.test(language) && !tells.word(language) ? language : null,
    }),
  };
}

/** Built from known members only: nothing of the caller's may slip through to a hub. RFC 7578. */
function formOf(
  { file, language, prompt, temperature, response_format }: TranscriptionArguments,
  { bytes, boundary, model }: { readonly bytes: Buffer; readonly boundary: string; readonly model: string },
): Buffer {
  const fields = {
    model,
    language,
    prompt,
    temperature,
    // A bare text is what we make of it.
    response_format: response_format === 'verbose_json' ? 'verbose_json' : 'json',
  };
  const part = (disposition: string) => `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n`;
  const parts = Object.entries(fields)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${part(`name="${name}"`)}\r\n${value}\r\n`);
  const head = `${part(`name="file"; filename="audio.${file.format}"`)}Content-Type: ${audioFormats[file.format]}\r\n\r\n`;
  return Buffer.concat([Buffer.from(parts.join('') + head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]);
}

/**
 * What a transcription is bound to: the file by what it holds, never by the id under which it came, so that the same file
 * sent again is the same request.
 */
export type TranscriptionArguments = Omit<TranscriptionRequest, 'file'> & {
  readonly file: { readonly sha256: string; readonly bytes: number; readonly format: AudioFormat };
};

export function transcriptionArguments(
  request: TranscriptionRequest,
  { bytes, sha256 }: UploadedFile,
): TranscriptionArguments {
  return { ...request, file: { sha256, bytes: bytes.length, format: request.file.format } };
}

/** The answer as it is kept: plain JSON in the words of the wire, so that a replay projects the same bytes again. */
export type KeptTranscription = HubTranscript & {
  readonly model: string;
  readonly hub: string;
} & JsonObject;

/** As OpenAI states it, if all details were requested. */
export function taskOf({ segments }: HubTranscript): 'transcribe' | null {
  return segments && 'transcribe';
}

/**
 * One transcription, sold as a chat completion is: the hub answers first, and only a text in hand is charged. `file` is
 * the one in hand. Files are not kept with a claim: work that is owed is done with the file that comes with the resend.
 */
export function transcriptionPaid(
  hubs: Hubs,
  file: UploadedFile | null = null,
): WorkThenSettle<TranscriptionArguments, KeptTranscription> {
  return answerPaid<TranscriptionArguments, HubTranscript, KeptTranscription>(hubs, {
    field: 'Mutation.createTranscription',
    job_kind: 'other',
    modality: 'audio',
    question(asked, { random }) {
      if (file === null) throw new Error('a transcription needs its file in hand');
      const boundary = `svc-${Buffer.from(random.bytes(24)).toString('hex')}`;
      return transcriptQuestion(asked, file.bytes, boundary);
    },
    answer: ({ value, by }) => ({ answer: { ...value, ...by }, output: present({ ...value, task: taskOf(value) }) }),
  });
}
