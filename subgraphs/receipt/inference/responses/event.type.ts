import { GraphQLJSONObject } from 'graphql-scalars';
import { Field, Int, ObjectType } from 'type-graphql';
import type { JsonObject } from '../../../../schema/canonical-json.ts';

@ObjectType({ description: 'One event of a streamed response.' })
export class ResponseStreamEvent {
  @Field(() => String, { description: '`response.created`, `response.output_text.delta` and the like.' }) type!: string;
  @Field(() => Int, { description: 'From 0, without a gap.' }) sequenceNumber!: number;
  @Field(() => GraphQLJSONObject, {
    description: 'The whole event, as OpenAI spells it; in the last one the response with its receipt.',
  })
  event!: JsonObject;
}
