import { GraphQLJSONObject } from 'graphql-scalars';
import { Field, Float, InputType, ObjectType } from 'type-graphql';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { TranscriptionNoun } from '../../../../schema/inference/media-answer.ts';
import type { MembersOf } from '../../../../schema/noun.ts';
import { showMembers } from '../../../graph-type.ts';
import { Receipt } from '../../receipt/receipt.entity.ts';
import { WorkInput } from '../work.type.ts';
import { type KeptTranscription, taskOf } from './transcription.paid.ts';

@InputType({ description: 'Audio, in one of two ways.' })
export class AudioFileInput {
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
export class TranscriptionInput extends WorkInput {
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

const Shown = class {} as new () => MembersOf<typeof TranscriptionNoun>;

@ObjectType({ description: 'A paid transcription with its receipt.' })
export class Transcription extends Shown {
  @Field(() => String, { description: 'Model that the hub was asked for. See answered_model.' }) model!: string;
  @Field(() => String, { description: 'The hub that answered.' }) hub!: string;
  @Field(() => GraphQLJSONObject, { description: 'The whole public receipt document.' }) svc!: JsonObject;
  @Field(() => Receipt, { nullable: true, description: 'The same, to be selected from.' }) receipt!: Receipt | null;
}
showMembers(Transcription, TranscriptionNoun);

/** The kept answer in the graph's words, without its receipt. */
export function transcriptionOf(kept: KeptTranscription) {
  const { text, language, duration, segments, model, hub } = kept;
  return { text, task: taskOf(kept), language, duration, segments: segments && [...segments], model, hub };
}
