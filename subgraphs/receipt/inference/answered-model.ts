import { isSameModel } from '../../../schema/dispute/same-model.ts';
import type { Route } from '../../sale.ts';
import { type Candidate, type HubSettings, modelIdsOf } from './catalogue.ts';

/**
 * Route of an answer, with the model that the hub named. If this is not the requested model, the route also has the id that the name has in
 * the hub's catalogue. The receipt signs that id, so that a dispute has the same result after the configuration has changed.
 */
export function answeredRoute(
  hubs: readonly HubSettings[],
  { hub, model }: Candidate,
  answered_model: string | null,
): Route {
  const route = { hub, model, answered_model };
  const settings = hubs.find(({ name }) => name === hub);
  if (settings === undefined || answered_model === null || isSameModel(model, answered_model)) return route;
  return { ...route, answered_catalogue_model: catalogueModel(settings, model, answered_model) };
}

/**
 * Id of the model that the name in an answer means: the requested model if the name is its alias; otherwise the model with this id, with
 * this alias, or of which the name is a version, in this order. Null if there is none.
 */
function catalogueModel(hub: HubSettings, model: string, answered_model: string): string | null {
  const ids = modelIdsOf(hub);
  const isAlias = (id: string) => hub.aliases?.[id]?.includes(answered_model) ?? false;
  if (isAlias(model) || ids.includes(answered_model)) return isAlias(model) ? model : answered_model;
  return ids.find(isAlias) ?? ids.find(id => isSameModel(id, answered_model)) ?? null;
}
