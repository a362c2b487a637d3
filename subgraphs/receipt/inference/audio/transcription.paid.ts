import type { JsonObject } from '../../../../schema/canonical-json.ts';
import type { AudioFormat, TranscriptionRequest } from '../../../../schema/requests/transcription.ts';
import type { WorkThenSettle } from '../../../sale.ts';
import type { UploadedFile } from '../../../uploads.ts';
import { answerPaid } from '../answer.paid.ts';
import type { Hubs } from '../hubs/open.ts';
import { type HubTranscript, transcriptQuestion } from './question.ts';

/**
 * What a transcription is bound to: the file by what it holds, never by the id under which it came, so that the same file
 * sent again is the same request.
 */
export type TranscriptionArguments = Omit<TranscriptionRequest, 'file'> & {
  readonly file: { readonly sha256: string; readonly bytes: number; readonly format: AudioFormat };
};

export function argumentsOf(request: TranscriptionRequest, { bytes, sha256 }: UploadedFile): TranscriptionArguments {
  return { ...request, file: { sha256, bytes: bytes.length, format: request.file.format } };
}

/** The answer as it is kept: plain JSON in the words of the wire, so that a replay projects the same bytes again. */
export type TranscriptionAnswer = HubTranscript & {
  readonly model: string;
  readonly hub: string;
} & JsonObject;

/**
 * One transcription, sold as a chat completion is: the hub answers first, and only a text in hand is charged. `file` is
 * the one in hand. The till keeps no files: work that is owed is done with the file that comes with the resend.
 */
export function transcriptionPaid(
  hubs: Hubs,
  file: UploadedFile | null = null,
): WorkThenSettle<TranscriptionArguments, TranscriptionAnswer> {
  return answerPaid<TranscriptionArguments, HubTranscript, TranscriptionAnswer>(hubs, {
    field: 'Mutation.createTranscription',
    job_kind: 'other',
    modality: 'audio',
    question(asked, { random }) {
      if (file === null) throw new Error('a transcription needs its file in hand');
      const boundary = `svc-${Buffer.from(random.bytes(24)).toString('hex')}`;
      return transcriptQuestion(asked, file.bytes, boundary);
    },
    answer: ({ value, by }) => ({ answer: { ...value, ...by }, output: value }),
  });
}
