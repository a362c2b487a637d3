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

/** Audio of a request, from its base64 or its upload. @throws upload_unknown, before any claim */
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

/** A segment of a transcription, with OpenAI's member names. */
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

/** Name or code of a language: "english", "Haitian Creole", "pt-BR". */
const LANGUAGE = /^\p{L}[\p{L}\p{M} ()-]*$/u;

/** The part of a transcription that is passed on. Members that a hub adds are dropped. */
const HubTranscript = z.object({
  text: wellFormedText,
  language: wellFormedText.max(64).nullable().default(null),
  duration: z.coerce.number().min(0).nullable().default(null),
  segments: z.array(Segment).max(limits.transcription_segments_max).nullable().default(null),
});
export type HubTranscript = z.output<typeof HubTranscript>;

/**
 * Request for a transcription. The hub receives the bytes and the format of the file, but not its name, which may identify the caller.
 * `boundary` must not occur in the file.
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

/**
 * Form with the file for a hub (RFC 7578). It is built from known members only, so that nothing that identifies the caller reaches a hub.
 */
function formOf(
  { file, language, prompt, temperature, response_format }: TranscriptionArguments,
  { bytes, boundary, model }: { readonly bytes: Buffer; readonly boundary: string; readonly model: string },
): Buffer {
  const fields = {
    model,
    language,
    prompt,
    temperature,
    // A caller that requests plain text receives the text of the hub's JSON.
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
 * Arguments to which the payment of a transcription is bound. The file is identified by its content and not by the id of its upload, so
 * that the same file sent again is the same request.
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

/** The answer as it is stored: plain JSON with the member names of the wire, so that a replay returns the same bytes. */
export type KeptTranscription = HubTranscript & {
  readonly model: string;
  readonly hub: string;
} & JsonObject;

/** Value of `task`, which OpenAI's API sends if all details were requested. Null if they were not. */
export function taskOf({ segments }: HubTranscript): 'transcribe' | null {
  return segments && 'transcribe';
}

/**
 * Sells one transcription at the fixed price. The hub answers first, and a call without a text is not charged. `file` is the file of this
 * call. Files are not stored with a claim, so work that is still owed uses the file that is sent with the request again.
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
