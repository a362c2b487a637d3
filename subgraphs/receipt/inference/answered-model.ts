import { isSameModel } from '../../../schema/dispute/same-model.ts';
import type { Route } from '../../sale.ts';
import { type Candidate, type HubSettings, modelIdsOf } from './catalogue.ts';

/**
 * Who answered, with the model that the hub named, and the model of its catalogue that this is by the current configuration: it is signed
 * with the receipt, so that a dispute has the same result under another configuration.
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
 * The requested model if the answer names an alias of it; else a model by exact id, by alias, or by a version of it.
 * Null if there is none.
 */
function catalogueModel(hub: HubSettings, model: string, answered_model: string): string | null {
  const ids = modelIdsOf(hub);
  const isAlias = (id: string) => hub.aliases?.[id]?.includes(answered_model) ?? false;
  if (isAlias(model) || ids.includes(answered_model)) return isAlias(model) ? model : answered_model;
  return ids.find(isAlias) ?? ids.find(id => isSameModel(id, answered_model)) ?? null;
}
