import { z } from 'zod';
import { present } from '../../../../schema/canonical-json.ts';
import { limits } from '../../../../schema/limits.ts';
import { wellFormedText } from '../../../../schema/requests/parse.ts';
import { audioFormats } from '../../../../schema/requests/transcription.ts';
import { readJsonAs } from '../hubs/json.ts';
import type { Question } from '../hubs/question.ts';
import type { TranscriptionArguments } from './transcription.paid.ts';

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

/** As much of a transcription as is passed on. What a hub adds to it stays with us. */
const HubTranscript = z.object({
  text: wellFormedText,
  language: wellFormedText.max(64).nullable().default(null),
  duration: z.coerce.number().min(0).nullable().default(null),
  segments: z.array(Segment).max(limits.transcription_segments_max).nullable().default(null),
});
export type HubTranscript = z.output<typeof HubTranscript>;

/** Of its file a hub learns the bytes and the format, and no name: that may say who calls. `boundary` is in no file. */
export function transcriptQuestion(
  asked: TranscriptionArguments,
  bytes: Buffer,
  boundary: string,
): Question<HubTranscript> {
  const verbose = asked.response_format === 'verbose_json';
  return {
    modality: 'audio',
    path: '/audio/transcriptions',
    body: model => ({
      content_type: `multipart/form-data; boundary=${boundary}`,
      bytes: formOf(asked, { bytes, boundary, model }),
    }),
    read(answer) {
      const transcript = readJsonAs(HubTranscript, answer);
      if (transcript === null || (verbose && transcript.segments === null)) return null;
      return verbose ? transcript : { ...transcript, language: null, duration: null, segments: null };
    },
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
  const said = Object.entries(fields)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${part(`name="${name}"`)}\r\n${value}\r\n`);
  const head = `${part(`name="file"; filename="audio.${file.format}"`)}Content-Type: ${audioFormats[file.format]}\r\n\r\n`;
  return Buffer.concat([Buffer.from(said.join('') + head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]);
}
