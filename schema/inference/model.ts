import { z } from 'zod';
import { limits } from '../limits.ts';
import { AmountTextMember, onGraph, SafeIntMember, sizedList } from '../noun.ts';
import { modelKinds } from '../route-words.ts';

/* What is shown of the model ids that a call may name. */

const Kinds = z.array(z.enum(modelKinds));

export const ModelModalityNoun = z.object({
  input: Kinds.describe('Kinds of input that the model accepts.'),
  output: Kinds.describe('Kinds of output that the model returns.'),
});

/** What a call of a model costs its caller, whatever its length. */
export const ModelPriceNoun = z.object({
  amount: AmountTextMember.describe(
    'Price of a call in atomic USDC, as digits: 10^`decimals` atomic units are one USDC.',
  ),
  currency: z.literal('USDC').describe('Always `USDC`.'),
  decimals: SafeIntMember.describe('Number of decimals of USDC: 6.'),
  per: z.literal('call').describe('Always `call`: the price is for one call, whatever its length.'),
});

export const ModelNoun = z.object({
  id: z.string().describe('Model id, as a request names it.'),
  object: z.literal('model').describe('Always `model`.'),
  created: SafeIntMember.describe(
    'Time in Unix seconds: a fixed value, the same for every model, because no hub states when a model was made.',
  ),
  owned_by: z.string().describe('Hub that serves the model. `svc` if it is several.'),
  hubs: z
    .array(z.string())
    .describe('Hubs that serve the model, as configured. Each call tries first those that have answered well of late.'),
  modality: ModelModalityNoun.describe(
    '`{input, output}`: kinds of input and output of the model, such as `text` and `image`, at the endpoint that sells it.',
  ),
  price: ModelPriceNoun.describe(
    'Price of one call of the model, whatever its length: `amount` in atomic USDC. For a model of the router, the router charges its own price besides.',
  ),
});

/** A list of REST, whose `object` the graph does not have. */
export const ModelPageNoun = z.object({
  data: onGraph(
    'models',
    sizedList(ModelNoun, 20 + limits.router_models_max).describe(
      `All models of the hubs, then at most ${limits.router_models_max} of the router.`,
    ),
  ),
  has_more: z
    .boolean()
    .describe(
      'True if the router has models that are not in the list. GET /v1/models/{id} (on the graph, `model`) finds each by its id.',
    ),
});

/** Path parameters of a model. */
export const ModelPath = z.object({ id: z.string().describe('Model id, as a request names it.') });
