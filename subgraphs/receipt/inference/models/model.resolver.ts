import { GraphQLSafeInt } from 'graphql-scalars';
import { Ctx, Field, ObjectType, Query, Resolver } from 'type-graphql';
import { offeredModels } from '../catalogue.ts';
import type { InferenceContext } from '../context.ts';

@ObjectType({ description: 'A model id that a call may name.' })
export class Model {
  @Field(() => String) id!: string;
  @Field(() => String, { description: 'Always `model`.' }) object!: 'model';
  @Field(() => GraphQLSafeInt, { description: 'Unix seconds: since when it is offered here.' }) created!: number;
  @Field(() => String, { description: 'The hub behind the id; `svc` where it stands for several.' }) ownedBy!: string;
  @Field(() => [String], { description: 'Hubs behind the id, in the order of trying.' }) hubs!: readonly string[];
}

@Resolver(() => Model)
export class ModelResolver {
  @Query(() => [Model], { description: 'Every model id that a call may name. Public.' })
  models(@Ctx() context: InferenceContext): Model[] {
    return offeredModels(context.hubs.settings).map(({ id, hubs }) => ({
      id,
      object: 'model',
      created: Math.floor(context.hubs.opened_at_ms / 1000),
      ownedBy: hubs.length === 1 ? (hubs[0] ?? 'svc') : 'svc',
      hubs,
    }));
  }
}
