import { Args, Ctx, Directive, Query, Resolver } from 'type-graphql';
import { atomicAmount } from '../../../../schema/amount.ts';
import {
  ModelModalityNoun,
  ModelNoun,
  ModelPageNoun,
  ModelPath,
  ModelPriceNoun,
} from '../../../../schema/inference/model.ts';
import { limits } from '../../../../schema/limits.ts';
import { type ModelKind, modelKinds } from '../../../../schema/route-words.ts';
import { type Arguments, argumentsType, givenMembers, objectType } from '../../../graph-type.ts';
import { type Ability, isRouted, type OfferedModel, offeredModels, ROUTER, ROUTER_PREFIX } from '../catalogue.ts';
import type { InferenceContext } from '../context.ts';
import type { Hubs } from '../hubs/open.ts';

/* Models that a call may name, as the graph shows them. */

export const ModelModality = objectType(
  'ModelModality',
  `Kinds of input and output of a model: one or more of ${modelKinds.join(', ')}.`,
  ModelModalityNoun,
);
type ModelModality = InstanceType<typeof ModelModality>;

export const ModelPrice = objectType(
  'ModelPrice',
  'Price of a call of a model. It does not depend on the length of the call.',
  ModelPriceNoun,
);
type ModelPrice = InstanceType<typeof ModelPrice>;

export const Model = objectType('Model', 'A model id that a call may name.', ModelNoun);
type Model = InstanceType<typeof Model>;

export const ModelPage = objectType(
  'ModelPage',
  'The models that a call may name, and whether the router has more than are listed.',
  ModelPageNoun,
);
type ModelPage = InstanceType<typeof ModelPage>;

/** Assumed number of models: twenty of the hubs, and the maximum that is listed of the router. */
const listSize = `@listSize(assumedSize: ${20 + limits.router_models_max})`;

const WHICH = `Model ids that a call may name: all of the hubs, and the first ${limits.router_models_max} of the router.`;

const ModelArguments = argumentsType(ModelPath);

@Resolver(() => Model)
export class ModelResolver {
  @Directive(listSize)
  @Query(() => [Model], { description: `${WHICH} \`modelPage\` says whether there are others. Public.` })
  async models(@Ctx() { hubs }: InferenceContext): Promise<readonly Model[]> {
    return (await modelsOf(hubs)).models;
  }

  @Query(() => ModelPage, { description: `${WHICH} Public.` })
  modelPage(@Ctx() { hubs }: InferenceContext): Promise<ModelPage> {
    return modelsOf(hubs);
  }

  @Query(() => Model, {
    nullable: true,
    description: 'Model by its id. Null if no such model is known to be offered, or on error. Public.',
  })
  async model(@Args(() => ModelArguments) asked: Arguments, @Ctx() { hubs }: InferenceContext): Promise<Model | null> {
    const { id } = givenMembers(ModelPath, asked);
    if (isRouted(id)) return (await hubs.routerTells(id.slice(ROUTER_PREFIX.length))) ? modelOf(routedModel(id)) : null;
    const found = offeredModels(hubs.settings).find(model => model.id === id);
    return found ? modelOf(found) : null;
  }
}

async function modelsOf(hubs: Pick<Hubs, 'settings' | 'routerModels'>): Promise<ModelPage> {
  const { ids, more } = await hubs.routerModels();
  return { models: [...offeredModels(hubs.settings), ...ids.map(routedModel)].map(modelOf), hasMore: more };
}

const routedModel = (id: string): OfferedModel => ({ id, hubs: [ROUTER], abilities: ['text'] });

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

/** Kind of input and of output of each ability, as its endpoint sells it. */
const kinds: Record<Ability, { readonly [side in keyof ModelModality]: ModelKind }> = {
  text: { input: 'text', output: 'text' },
  vision: { input: 'image', output: 'text' },
  hearing: { input: 'audio', output: 'text' },
  files: { input: 'file', output: 'text' },
  message: { input: 'text', output: 'text' },
  message_vision: { input: 'image', output: 'text' },
  message_file: { input: 'file', output: 'text' },
  image: { input: 'text', output: 'image' },
  audio: { input: 'audio', output: 'text' },
  embedding: { input: 'text', output: 'embedding' },
};

function each(abilities: readonly Ability[], side: keyof ModelModality): ModelKind[] {
  return [...new Set(abilities.map(ability => kinds[ability][side]))];
}

/** Price of every paid call. The router charges the caller's own key separately. */
const price: ModelPrice = {
  amount: atomicAmount(limits.call_price_atomic),
  currency: 'USDC',
  decimals: limits.usdc_decimals,
  per: 'call',
};
