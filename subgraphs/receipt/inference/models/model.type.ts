import { GraphQLSafeInt } from 'graphql-scalars';
import { Directive, Field, ObjectType } from 'type-graphql';
import { limits } from '../../../../schema/limits.ts';
import { type ModelKind, modelKinds } from '../../../../schema/route-words.ts';
import { AtomicAmountScalar } from '../../../../schema/scalars.ts';

@ObjectType({ description: `What a model takes and what it gives: one or more of ${modelKinds.join(', ')}.` })
export class ModelModality {
  @Field(() => [String], { description: 'What it takes.' }) input!: readonly ModelKind[];
  @Field(() => [String], { description: 'What it gives.' }) output!: readonly ModelKind[];
}

@ObjectType({ description: 'What a call of a model costs its caller, whatever its length.' })
export class ModelPrice {
  @Field(() => AtomicAmountScalar, { description: 'Atomic units of the currency.' }) amount!: string;
  @Field(() => String, { description: 'Always `USDC`.' }) currency!: 'USDC';
  @Field(() => GraphQLSafeInt, { description: 'Of the currency: so many of its digits are behind the point.' })
  decimals!: number;
  @Field(() => String, { description: 'Always `call`.' }) per!: 'call';
}

@ObjectType({ description: 'A model id that a call may name.' })
export class Model {
  @Field(() => String, { description: 'As a request names it.' }) id!: string;
  @Field(() => String, { description: 'Always `model`.' }) object!: 'model';
  @Field(() => GraphQLSafeInt, {
    description: 'Unix seconds, and the same for every model at any time: no hub says when a model came to be.',
  })
  created!: number;
  @Field(() => String, { description: 'The hub behind the id; `svc` where it stands for several.' }) ownedBy!: string;
  @Field(() => [String], { description: 'Hubs behind the id, in the order of trying.' }) hubs!: readonly string[];
  @Field(() => ModelModality, { description: 'What it takes and gives.' }) modality!: ModelModality;
  @Field(() => ModelPrice, { description: 'What a call of it costs.' }) price!: ModelPrice;
}

@ObjectType({ description: 'Models that a call may name.' })
export class ModelPage {
  @Directive(`@listSize(assumedSize: ${20 + limits.router_models_max})`)
  @Field(() => [Model], {
    description: `All models of the hubs, then at most ${limits.router_models_max} of the router.`,
  })
  models!: readonly Model[];
  @Field(() => Boolean, {
    description: 'True if the router has models that are not shown. `model` finds each by its id.',
  })
  hasMore!: boolean;
}
