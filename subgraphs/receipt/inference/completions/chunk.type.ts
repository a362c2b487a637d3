import { GraphQLJSONObject, GraphQLSafeInt } from 'graphql-scalars';
import { Field, Int, ObjectType } from 'type-graphql';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { ChatUsage } from './completion.type.ts';

@ObjectType({ description: 'What a chunk adds to the name and the arguments of a call.' })
export class ChatFunctionDelta {
  @Field(() => String, { nullable: true }) name!: string | null;
  @Field(() => String, { description: 'A piece of JSON, as the model wrote it.' }) arguments!: string;
}

@ObjectType({ description: 'What a chunk adds to a call; id, type and name stand in the first one alone.' })
export class ChatToolCallDelta {
  @Field(() => Int, { description: 'Which call of the message, from 0.' }) index!: number;
  @Field(() => String, { nullable: true }) id!: string | null;
  @Field(() => String, { nullable: true, description: 'Always `function`.' }) type!: 'function' | null;
  @Field(() => ChatFunctionDelta) function!: ChatFunctionDelta;
}

@ObjectType({ description: 'What a chunk adds to a message.' })
export class ChatDelta {
  @Field(() => String, { nullable: true, description: 'In the first chunk alone.' }) role!: string | null;
  @Field(() => String, { nullable: true }) content!: string | null;
  @Field(() => String, { nullable: true }) refusal!: string | null;
  @Field(() => [ChatToolCallDelta], { nullable: true }) toolCalls!: ChatToolCallDelta[] | null;
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
