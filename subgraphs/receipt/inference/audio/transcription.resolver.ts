import { Arg, Ctx, Directive, Mutation, Resolver } from 'type-graphql';
import { limits } from '../../../../schema/limits.ts';
import { requestOf } from '../../../../schema/requests/parse.ts';
import { TranscriptionRequest } from '../../../../schema/requests/transcription.ts';
import type { InferenceContext } from '../context.ts';
import { receiptOf } from '../svc.ts';
import { audioOf, transcriptionArguments, transcriptionPaid } from './transcription.paid.ts';
import { Transcription, TranscriptionInput, transcriptionOf } from './transcription.type.ts';

@Resolver(() => Transcription)
export class TranscriptionResolver {
  @Directive(`@paid(price: "${limits.call_price_atomic}")`)
  @Mutation(() => Transcription, { description: 'What is said in a file of audio; charged only for a text in hand.' })
  async createTranscription(
    @Arg('input', () => TranscriptionInput, { description: 'What is to be transcribed.' }) input: TranscriptionInput,
    @Ctx() context: InferenceContext,
  ): Promise<Transcription> {
    const request = requestOf(TranscriptionRequest, input, context.valid_body);
    const file = audioOf(request.file, context.uploads);
    try {
      const paid = transcriptionPaid(context.hubs, file);
      const charged = await context.charge(paid, transcriptionArguments(request, file), context);
      return { ...transcriptionOf(charged.answer), ...receiptOf(charged, context) };
    } finally {
      file.release();
    }
  }
}
