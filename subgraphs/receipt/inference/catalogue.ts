import { AUTO_MODEL } from '../../../schema/route-words.ts';

/** A hub as it is configured: an OpenAI-compatible service that is paid for by us, with our key. */
export interface HubSettings {
  readonly name: string;
  /** Up to and including the version, as OpenAI clients take it: `https://hub.example/v1`. */
  readonly base_url: string;
  readonly api_key: string;
  /** Ids that it serves, the one that stands for it in `svc/auto` first. */
  readonly models: readonly string[];
  readonly image_models?: readonly string[];
  readonly audio_models?: readonly string[];
  /** Of `models` those that look at images, and those that can be told how hard to think. */
  readonly vision_models?: readonly string[];
  readonly reasoning_models?: readonly string[];
  /** What one call of a model costs us there, in atomic USDC, as far as it is known. */
  readonly prices?: Readonly<Record<string, number>> | undefined;
  /** The same by what it reads and writes: atomic USDC per million tokens. */
  readonly token_prices?: Readonly<Record<string, { readonly input: number; readonly output: number }>> | undefined;
}

/** What a model is asked for; `svc/auto` stands for a model of that kind. */
export type Modality = 'text' | 'image' | 'audio';

/** What a model must be able to do to be asked. */
export type Ability = Modality | 'vision';

const modelsFor = {
  text: hub => hub.models,
  vision: ({ models, vision_models = [] }) => models.filter(id => vision_models.includes(id)),
  image: hub => hub.image_models ?? [],
  audio: hub => hub.audio_models ?? [],
} as const satisfies Record<Ability, (hub: HubSettings) => readonly string[]>;

/** What a model id may resolve to: this model at this hub. Both are disclosed to the caller. */
export interface Candidate {
  readonly hub: string;
  readonly model: string;
}

/** Under what name the router is disclosed. */
export const ROUTER = 'router';
export const ROUTER_PREFIX = `${ROUTER}/`;

/** Whether a model id is the router's: it is answered there, under the caller's own key, and nowhere else. */
export function isRouted(model: string): boolean {
  return model.startsWith(ROUTER_PREFIX) && model !== ROUTER_PREFIX;
}

/** The id by which a candidate's model goes where it is served. */
export function wireModel({ hub, model }: Candidate): string {
  return hub === ROUTER ? model.slice(ROUTER_PREFIX.length) : model;
}

/** Where a call may be answered, in the order of trying; empty where nobody offers the model. */
export function candidatesFor(
  hubs: readonly HubSettings[],
  model: string,
  ability: Ability = 'text',
): readonly Candidate[] {
  return hubs.flatMap(hub => {
    const models = modelsFor[ability](hub);
    const served = model === AUTO_MODEL ? models[0] : models.find(id => id === model);
    return served === undefined ? [] : [{ hub: hub.name, model: served }];
  });
}

/**
 * Those of them that a book allows; null allows all. Where it allows none, all of them: such a call was refused before, but
 * for one that has been paid for already, which is not refused.
 */
export function allowedAmong(
  candidates: readonly Candidate[],
  allowed_models: readonly string[] | null,
): readonly Candidate[] {
  if (allowed_models === null) return candidates;
  const allowed = candidates.filter(({ model }) => allowed_models.includes(model));
  return allowed.length === 0 ? candidates : allowed;
}

export interface OfferedModel {
  readonly id: string;
  /** Names of the hubs behind the id, in the order of trying. */
  readonly hubs: readonly string[];
  /** What it may be named for; `svc/auto` is able to do all that any hub does. */
  readonly abilities: readonly Ability[];
}

const abilities = ['text', 'vision', 'image', 'audio'] as const satisfies readonly Ability[];

/** Every id of a hub that a call may name: `svc/auto` first, then each hub's own, once. */
export function offeredModels(hubs: readonly HubSettings[]): readonly OfferedModel[] {
  const ids = new Set([AUTO_MODEL, ...abilities.flatMap(ability => hubs.flatMap(modelsFor[ability]))]);
  return [...ids].map(id => {
    const by_ability = abilities.map(ability => ({ ability, candidates: candidatesFor(hubs, id, ability) }));
    const serving = by_ability.filter(({ candidates }) => candidates.length > 0);
    const names = serving.flatMap(({ candidates }) => candidates.map(({ hub }) => hub));
    return { id, hubs: [...new Set(names)], abilities: serving.map(({ ability }) => ability) };
  });
}
