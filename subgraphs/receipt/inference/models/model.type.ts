import { ModelModalityNoun, ModelNoun, ModelPageNoun, ModelPriceNoun } from '../../../../schema/inference/model.ts';
import { modelKinds } from '../../../../schema/route-words.ts';
import { objectType } from '../../../graph-type.ts';

/* Models that a call may name, as the graph shows them. */

export const ModelModality = objectType(
  'ModelModality',
  `What a model takes and what it gives: one or more of ${modelKinds.join(', ')}.`,
  ModelModalityNoun,
);
export type ModelModality = InstanceType<typeof ModelModality>;

export const ModelPrice = objectType(
  'ModelPrice',
  'What a call of a model costs its caller, whatever its length.',
  ModelPriceNoun,
);
export type ModelPrice = InstanceType<typeof ModelPrice>;

export const Model = objectType('Model', 'A model id that a call may name.', ModelNoun);
export type Model = InstanceType<typeof Model>;

export const ModelPage = objectType('ModelPage', 'Models that a call may name.', ModelPageNoun);
export type ModelPage = InstanceType<typeof ModelPage>;
