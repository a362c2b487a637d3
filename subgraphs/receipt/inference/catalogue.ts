import { AUTO_MODEL, type ModelKind } from '../../../schema/route-words.ts';

/** Both names of OpenAI's for the most tokens that an answer may have: each model takes one of them. */
export const tokenLimitMembers = ['max_tokens', 'max_completion_tokens'] as const;
export type TokenLimitMember = (typeof tokenLimitMembers)[number];

/** API of a hub: OpenAI's, or Anthropic's Messages API, which serves messages only. */
export const dialects = ['openai', 'anthropic'] as const;
export type Dialect = (typeof dialects)[number];

/** A hub as it is configured: a service that is paid for by us, with our key. */
export interface HubSettings {
  readonly name: string;
  /** Up to and including the version, as OpenAI clients take it: `https://hub.example/v1`. */
  readonly base_url: string;
  readonly api_key: string;
  /** Left out: OpenAI's. */
  readonly dialect?: Dialect | undefined;
  /** Ids that it serves. The first is used for `svc/auto`. */
  readonly models: readonly string[];
  readonly image_models?: readonly string[];
  readonly audio_models?: readonly string[];
  readonly embedding_models?: readonly string[];
  /** Those of `models` that accept images, audio or files, and those that accept a reasoning effort. */
  readonly vision_models?: readonly string[];
  readonly audio_input_models?: readonly string[];
  readonly file_input_models?: readonly string[];
  readonly reasoning_models?: readonly string[];
  /** By id of a model, other names by which the hub may name it in its answers. */
  readonly aliases?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Member in which a model takes the limit on its tokens, if it differs from the default of its kind. */
  readonly token_limit_members?: Readonly<Record<string, TokenLimitMember>> | undefined;
  /** Unknown members that the hub accepts. Absent: all. */
  readonly forward?: readonly string[] | undefined;
  /** What one call of a model costs us there, in atomic USDC, as far as it is known. */
  readonly prices?: Readonly<Record<string, number>> | undefined;
  /** The same by what it reads and writes: atomic USDC per million tokens. */
  readonly token_prices?: Readonly<Record<string, { readonly input: number; readonly output: number }>> | undefined;
}

/** Kind of work of a model; `svc/auto` means any model of that kind. */
export const modalities = ['text', 'image', 'audio', 'embedding'] as const satisfies readonly ModelKind[];
export type Modality = (typeof modalities)[number];

/** What some models of text accept besides text. */
export type InputAbility = 'vision' | 'hearing' | 'files';

/** What a model must support for a request. */
export type Ability = Modality | InputAbility | 'message' | 'message_vision' | 'message_file';

/** What a text request requires of its hub. */
export interface TextDemand {
  readonly abilities: readonly InputAbility[];
  /** Names of members that this service does not know. */
  readonly members: readonly string[];
}
/** The same of other work. */
export interface MemberDemand {
  readonly ability: Ability;
  readonly members: readonly string[];
  /**
   * The same if a message is sent as a chat: with the members that only a message has; null if it has members that no chat has a place for.
   */
  readonly as_chat?: readonly string[] | null;
}
export type Demand = Ability | TextDemand | MemberDemand;

const seeing = ({ models, vision_models = [] }: HubSettings) => models.filter(id => vision_models.includes(id));
const speaks = (dialect: Dialect, hub: HubSettings) => (hub.dialect ?? 'openai') === dialect;

/**
 * Every hub can answer a message; other texts need OpenAI's dialect. A hub of Anthropic's dialect reads files with its
 * vision models.
 */
const modelsFor = {
  text: hub => (speaks('openai', hub) ? hub.models : []),
  vision: seeing,
  hearing: ({ models, audio_input_models = [] }) => models.filter(id => audio_input_models.includes(id)),
  files: ({ models, file_input_models = [] }) => models.filter(id => file_input_models.includes(id)),
  message: hub => hub.models,
  message_vision: seeing,
  message_file: hub => (speaks('anthropic', hub) ? seeing(hub) : (hub.file_input_models ?? [])),
  image: hub => hub.image_models ?? [],
  audio: hub => hub.audio_models ?? [],
  embedding: hub => hub.embedding_models ?? [],
} as const satisfies Record<Ability, (hub: HubSettings) => readonly string[]>;

/** Ids of a hub's models that can answer the request. */
function servingFor(hub: HubSettings, demand: Demand): readonly string[] {
  if (typeof demand === 'string') return modelsFor[demand](hub);
  if (!isForwarded(membersFor(hub, demand), hub)) return [];
  if ('ability' in demand) return modelsFor[demand.ability](hub);
  const able = demand.abilities.map(ability => modelsFor[ability](hub));
  return modelsFor.text(hub).filter(id => able.every(ids => ids.includes(id)));
}

/** Names of the members that would be sent to a hub and that this service does not know; null if one of them cannot be sent to it. */
function membersFor(hub: HubSettings, demand: TextDemand | MemberDemand): readonly string[] | null {
  if (!('as_chat' in demand) || demand.as_chat === undefined || speaks('anthropic', hub)) return demand.members;
  return demand.as_chat;
}

function isForwarded(members: readonly string[] | null, { forward }: HubSettings): boolean {
  return members !== null && (forward === undefined || members.every(name => forward.includes(name)));
}

/** Whether a hub has any model for that kind of work. */
export function hasModelsFor(hub: HubSettings, modality: Modality): boolean {
  return modelsFor[widest[modality]](hub).length > 0;
}

/** What most hubs of a kind of work are able to do. */
const widest = { text: 'message', image: 'image', audio: 'audio', embedding: 'embedding' } as const satisfies Record<
  Modality,
  Ability
>;

/** Ids of all its models, of every kind. */
export function modelIdsOf(hub: HubSettings): readonly string[] {
  return modalities.flatMap(modality => modelsFor[widest[modality]](hub));
}

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

/** The id of a candidate's model at the hub that serves it. */
export function wireModel({ hub, model }: Candidate): string {
  return hub === ROUTER ? model.slice(ROUTER_PREFIX.length) : model;
}

/**
 * Candidates for a call, in the order in which they are tried; empty if no hub offers the model. `allowed_models`:
 * those that its book and its grant allow, null for all; `svc/auto` is the first of these at each hub. If they allow
 * none, all may answer: such a call was refused before, unless it has been paid for already.
 */
export function candidatesFor(
  hubs: readonly HubSettings[],
  model: string,
  demand: Demand = 'text',
  allowed_models: readonly string[] | null = null,
): readonly Candidate[] {
  const candidates = hubs.flatMap(hub => {
    const models = servingFor(hub, demand).filter(id => model === AUTO_MODEL || id === model);
    const served = models.find(id => allowed_models === null || allowed_models.includes(id));
    return served === undefined ? [] : [{ hub: hub.name, model: served }];
  });
  return candidates.length > 0 || allowed_models === null ? candidates : candidatesFor(hubs, model, demand);
}

/** Ids of all models that may answer, as books and grants see them: for `svc/auto` every one that supports the request. */
export function possibleModels(hubs: readonly HubSettings[], model: string, demand: Demand): readonly string[] {
  const ids = hubs.flatMap(hub => servingFor(hub, demand));
  return [...new Set(model === AUTO_MODEL ? ids : ids.filter(id => id === model))];
}

export interface OfferedModel {
  readonly id: string;
  /** Names of the hubs behind the id, in the order of trying. */
  readonly hubs: readonly string[];
  /** The abilities for which it may be named; `svc/auto` has all that any hub has. */
  readonly abilities: readonly Ability[];
}

const abilities = [
  'text',
  'message',
  'vision',
  'hearing',
  'files',
  'image',
  'audio',
  'embedding',
] as const satisfies readonly Ability[];

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
