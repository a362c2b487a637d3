import { GraphQLSafeInt } from 'graphql-scalars';
import { Ctx, Field, ObjectType, Query, Resolver } from 'type-graphql';
import { offeredModels, ROUTER } from '../catalogue.ts';
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
  async models(@Ctx() { hubs }: InferenceContext): Promise<Model[]> {
    const routed = (await hubs.routerModels()).map(id => ({ id, hubs: [ROUTER] }));
    const created = Math.floor(hubs.opened_at_ms / 1000);
    return [...offeredModels(hubs.settings), ...routed].map(({ id, hubs: [only, ...others] }) => ({
      id,
      object: 'model',
      created,
      ownedBy: others.length === 0 ? (only ?? 'svc') : 'svc',
      hubs: [...(only === undefined ? [] : [only]), ...others],
    }));
  }
}
