import { Arg, Ctx, Directive, Mutation, Resolver } from 'type-graphql';
import { limits } from '../../../../schema/limits.ts';
import { toSnakeKeys } from '../../../../schema/requests/case.ts';
import { parseRequest } from '../../../../schema/requests/parse.ts';
import { TranscriptionRequest } from '../../../../schema/requests/transcription.ts';
import { receiptOf } from '../completions/svc.ts';
import type { InferenceContext } from '../context.ts';
import { audioOf } from './file.ts';
import { argumentsOf, transcriptionPaid } from './transcription.paid.ts';
import { Transcription, TranscriptionInput, transcriptionOf } from './transcription.type.ts';

@Resolver(() => Transcription)
export class TranscriptionResolver {
  @Directive(`@paid(price: "${limits.call_price_atomic}")`)
  @Mutation(() => Transcription, { description: 'What is said in a file of audio; charged only for a text in hand.' })
  async createTranscription(
    @Arg('input', () => TranscriptionInput) input: TranscriptionInput,
    @Ctx() context: InferenceContext,
  ): Promise<Transcription> {
    const request = parseRequest(TranscriptionRequest, toSnakeKeys(input));
    const file = audioOf(request.file, context.uploads);
    try {
      const paid = transcriptionPaid(context.hubs, file);
      const charged = await context.charge(paid, argumentsOf(request, file), context);
      return { ...transcriptionOf(charged.answer), ...receiptOf(charged, context) };
    } finally {
      file.release();
    }
  }
}
