import { GraphQLJSONObject } from 'graphql-scalars';
import { Arg, Ctx, Directive, Field, Float, InputType, Mutation, ObjectType, Resolver } from 'type-graphql';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { TranscriptionNoun } from '../../../../schema/inference/media-answer.ts';
import { limits } from '../../../../schema/limits.ts';
import { requestOf } from '../../../../schema/requests/parse.ts';
import { TranscriptionRequest } from '../../../../schema/requests/transcription.ts';
import { membersOf, showMembers } from '../../../graph-type.ts';
import { Receipt } from '../../receipt/receipt.entity.ts';
import type { InferenceContext } from '../context.ts';
import { receiptOf } from '../svc.ts';
import { WorkInput } from '../work.type.ts';
import {
  audioOf,
  type KeptTranscription,
  taskOf,
  transcriptionArguments,
  transcriptionPaid,
} from './transcription.paid.ts';

@InputType({ description: 'Audio, in one of two ways.' })
class AudioFileInput {
  @Field(() => String, { nullable: true, description: 'Its bytes: a small file, as the whole request has its limit.' })
  base64?: string | null;
  @Field(() => String, {
    nullable: true,
    description: 'Id by which an endpoint of this service names the file that it was sent.',
  })
  upload?: string | null;
  @Field(() => String, { description: 'The ending of its name: `mp3`, `wav`, …' }) format!: string;
}

@InputType({ description: 'What is to be transcribed; the limits are those of POST /v1/audio/transcriptions.' })
class TranscriptionInput extends WorkInput {
  @Field(() => AudioFileInput, { description: 'What is spoken.' }) file!: AudioFileInput;
  @Field(() => String, { nullable: true, description: 'Of what is spoken, as ISO 639-1.' }) language?: string | null;
  @Field(() => String, { nullable: true, description: 'Words and a style that the text is likely to have.' }) prompt?:
    | string
    | null;
  @Field(() => String, { nullable: true, description: '`verbose_json` brings language, duration and segments, too.' })
  responseFormat?: string | null;
  @Field(() => Float, { nullable: true, description: '0 to 1: how far the model may stray from the likeliest.' })
  temperature?: number | null;
}

@ObjectType({ description: 'A paid transcription with its receipt.' })
class Transcription extends membersOf(TranscriptionNoun) {
  @Field(() => String, { description: 'Model that the hub was asked for. See answered_model.' }) model!: string;
  @Field(() => String, { description: 'The hub that answered.' }) hub!: string;
  @Field(() => GraphQLJSONObject, { description: 'The whole public receipt document.' }) svc!: JsonObject;
  @Field(() => Receipt, { nullable: true, description: 'The same, to be selected from.' }) receipt!: Receipt | null;
}
showMembers(Transcription, TranscriptionNoun);

/** The kept answer in the graph's words, without its receipt. */
function transcriptionOf(kept: KeptTranscription) {
  const { text, language, duration, segments, model, hub } = kept;
  return { text, task: taskOf(kept), language, duration, segments: segments && [...segments], model, hub };
}

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
