import { GraphQLSafeInt } from 'graphql-scalars';
import { Field, ObjectType } from 'type-graphql';

@ObjectType({ description: 'What a model takes and what it gives: `text`, `image` or `audio`.' })
export class ModelModality {
  @Field(() => [String]) input!: readonly string[];
  @Field(() => [String]) output!: readonly string[];
}

@ObjectType({ description: 'What a call of a model costs its caller, whatever its length.' })
export class ModelPrice {
  @Field(() => String, { description: 'Atomic units of the currency.' }) amount!: string;
  @Field(() => String) currency!: 'USDC';
  @Field(() => GraphQLSafeInt, { description: 'Of the currency: so many of its digits are behind the point.' })
  decimals!: number;
  @Field(() => String, { description: 'Always `call`.' }) per!: 'call';
}

@ObjectType({ description: 'A model id that a call may name.' })
export class Model {
  @Field(() => String) id!: string;
  @Field(() => String, { description: 'Always `model`.' }) object!: 'model';
  @Field(() => GraphQLSafeInt, {
    description: 'Unix seconds, and the same for every model at any time: no hub says when a model came to be.',
  })
  created!: number;
  @Field(() => String, { description: 'The hub behind the id; `svc` where it stands for several.' }) ownedBy!: string;
  @Field(() => [String], { description: 'Hubs behind the id, in the order of trying.' }) hubs!: readonly string[];
  @Field(() => ModelModality) modality!: ModelModality;
  @Field(() => ModelPrice) price!: ModelPrice;
}
