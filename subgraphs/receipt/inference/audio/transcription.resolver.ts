import { Arg, Ctx, Directive, Mutation, Resolver } from 'type-graphql';
import { TranscriptionNoun } from '../../../../schema/inference/media-answer.ts';
import { limits } from '../../../../schema/limits.ts';
import { AudioFile, TranscriptionRequest } from '../../../../schema/requests/transcription.ts';
import { type Arguments, inputType, readRequest, shownOf } from '../../../graph-type.ts';
import type { InferenceContext } from '../context.ts';
import { receiptOf } from '../svc.ts';
import { paidAnswerType } from '../work.type.ts';
import { audioOf, taskOf, transcriptionArguments, transcriptionPaid } from './transcription.paid.ts';

inputType(
  'AudioFileInput',
  'Audio file: its format and, in `base64`, its bytes. `upload` is for REST and MCP.',
  AudioFile,
);
const TranscriptionInput = inputType(
  'TranscriptionInput',
  'Transcription request. The limits are those of POST /v1/audio/transcriptions.',
  TranscriptionRequest,
);
const Transcription = paidAnswerType(
  'Transcription',
  'Text of an audio file, as a paid answer with its receipt.',
  TranscriptionNoun,
);
type Transcription = InstanceType<typeof Transcription>;

@Resolver(() => Transcription)
export class TranscriptionResolver {
  @Directive(`@paid(price: "${limits.call_price_atomic}")`)
  @Mutation(() => Transcription, {
    description: 'Transcribes an audio file. Charged only if the hub has returned a text.',
  })
  async createTranscription(
    @Arg('input', () => TranscriptionInput, { description: 'Audio file, model and options of the transcription.' })
    input: Arguments,
    @Ctx() context: InferenceContext,
  ): Promise<Transcription> {
    const request = readRequest(TranscriptionRequest, input, context);
    const file = audioOf(request.file, context.uploads);
    try {
      const paid = transcriptionPaid(context.hubs, file);
      const charged = await context.charge(paid, transcriptionArguments(request, file), context);
      const { answer } = charged;
      const { receipt, svc } = receiptOf(charged, context);
      return { ...shownOf(TranscriptionNoun, { ...answer, task: taskOf(answer), svc }), receipt };
    } finally {
      file.release();
    }
  }
}
