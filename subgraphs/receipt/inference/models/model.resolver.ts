import { Arg, Ctx, Directive, Query, Resolver } from 'type-graphql';
import { limits } from '../../../../schema/limits.ts';
import { type Ability, type Modality, type OfferedModel, offeredModels, ROUTER } from '../catalogue.ts';
import type { InferenceContext } from '../context.ts';
import type { Hubs } from '../hubs/open.ts';
import { Model, type ModelModality, type ModelPrice } from './model.type.ts';

@Resolver(() => Model)
export class ModelResolver {
  /** Twenty of the hubs' own, and what the router lists. */
  @Directive(`@listSize(assumedSize: ${20 + limits.router_models_max})`)
  @Query(() => [Model], { description: 'Every model id that a call may name. Public.' })
  async models(@Ctx() { hubs }: InferenceContext): Promise<Model[]> {
    return offeredBy(hubs);
  }

  @Query(() => Model, { nullable: true, description: 'The model of that id; null where none is offered. Public.' })
  async model(
    @Arg('id', () => String, { description: 'As a request names it.' }) id: string,
    @Ctx() { hubs }: InferenceContext,
  ): Promise<Model | null> {
    return (await offeredBy(hubs)).find(model => model.id === id) ?? null;
  }
}

async function offeredBy(hubs: Pick<Hubs, 'settings' | 'routerModels'>): Promise<Model[]> {
  const routed = (await hubs.routerModels()).map((id): OfferedModel => ({ id, hubs: [ROUTER], abilities: ['text'] }));
  return [...offeredModels(hubs.settings), ...routed].map(modelOf);
}

function modelOf({ id, hubs: [only, ...others], abilities }: OfferedModel): Model {
  return {
    id,
    object: 'model',
    created: limits.models_created_seconds,
    ownedBy: others.length === 0 ? (only ?? 'svc') : 'svc',
    hubs: [...(only === undefined ? [] : [only]), ...others],
    modality: {
      input: each(abilities, 'input'),
      output: each(abilities, 'output'),
    },
    price,
  };
}

/** What work of each kind takes and gives, as its door sells it. */
const kinds: Record<Ability, { readonly [side in keyof ModelModality]: Modality }> = {
  text: { input: 'text', output: 'text' },
  vision: { input: 'image', output: 'text' },
  image: { input: 'text', output: 'image' },
  audio: { input: 'audio', output: 'text' },
};

function each(abilities: readonly Ability[], side: keyof ModelModality): Modality[] {
  return [...new Set(abilities.map(ability => kinds[ability][side]))];
}

/** Every paid call has one price. What the router asks for is between it and the caller, whose key it answers under. */
const price: ModelPrice = {
  amount: limits.call_price_atomic.toString(),
  currency: 'USDC',
  decimals: limits.usdc_decimals,
  per: 'call',
};
