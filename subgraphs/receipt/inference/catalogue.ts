/** A hub as it is configured: an OpenAI-compatible service that is paid for by us, with our key. */
export interface HubSettings {
  readonly name: string;
  /** Up to and including the version, as OpenAI clients take it: `https://hub.example/v1`. */
  readonly base_url: string;
  readonly api_key: string;
  /** Ids that it serves, the one that stands for it in `svc/auto` first. */
  readonly models: readonly string[];
}

/** What a model id may resolve to: this model at this hub. Both are disclosed to the caller. */
export interface Candidate {
  readonly hub: string;
  readonly model: string;
}

const AUTO_MODEL = 'svc/auto';

/** Where a call may be answered, in the order of trying; empty where nobody offers the model. */
export function candidatesFor(hubs: readonly HubSettings[], model: string): readonly Candidate[] {
  return hubs.flatMap(hub => {
    const served = model === AUTO_MODEL ? hub.models[0] : hub.models.find(id => id === model);
    return served === undefined ? [] : [{ hub: hub.name, model: served }];
  });
}

export interface Offered {
  readonly id: string;
  /** Names of the hubs behind the id, in the order of trying. */
  readonly hubs: readonly string[];
}

/** Every id that a call may name: `svc/auto` first, then each hub's own, once. */
export function offeredModels(hubs: readonly HubSettings[]): readonly Offered[] {
  const ids = new Set([AUTO_MODEL, ...hubs.flatMap(hub => hub.models)]);
  return [...ids].map(id => ({ id, hubs: candidatesFor(hubs, id).map(candidate => candidate.hub) }));
}
