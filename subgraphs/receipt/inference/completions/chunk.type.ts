import { GraphQLJSONObject, GraphQLSafeInt } from 'graphql-scalars';
import { Field, Int, ObjectType } from 'type-graphql';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { ChatUsage } from './completion.type.ts';

@ObjectType({ description: 'What a chunk adds to a message.' })
export class ChatDelta {
  @Field(() => String, { nullable: true, description: 'In the first chunk alone.' }) role!: string | null;
  @Field(() => String, { nullable: true }) content!: string | null;
}

@ObjectType()
export class ChatChunkChoice {
  @Field(() => Int) index!: number;
  @Field(() => ChatDelta) delta!: ChatDelta;
  @Field(() => String, { nullable: true, description: '`error` where the hub broke off.' })
  finishReason!: string | null;
}

@ObjectType({ description: 'A piece of a paid answer; the last one brings the receipt.' })
export class ChatCompletionChunk {
  @Field(() => String) id!: string;
  @Field(() => String, { description: 'Always `chat.completion.chunk`.' }) object!: 'chat.completion.chunk';
  @Field(() => GraphQLSafeInt, { description: 'Unix seconds.' }) created!: number;
  @Field(() => String, { description: 'The model that answers.' }) model!: string;
  @Field(() => String, { description: 'The hub that answers.' }) hub!: string;
  @Field(() => [ChatChunkChoice]) choices!: ChatChunkChoice[];
  @Field(() => ChatUsage, { nullable: true, description: 'In the last chunk alone, where the hub counts.' })
  usage!: ChatUsage | null;
  @Field(() => GraphQLJSONObject, { nullable: true, description: 'In the last chunk: the whole receipt document.' })
  svc!: JsonObject | null;
}
