import { AUTO_MODEL, type ModelKind } from '../../../schema/route-words.ts';

/** OpenAI's two names for the maximum number of tokens of an answer. Each model accepts one of them. */
export const tokenLimitMembers = ['max_tokens', 'max_completion_tokens'] as const;
export type TokenLimitMember = (typeof tokenLimitMembers)[number];

/** API of a hub: OpenAI's, or Anthropic's Messages API, which serves messages only. */
export const dialects = ['openai', 'anthropic'] as const;
export type Dialect = (typeof dialects)[number];

/** Configuration of a hub: an upstream service that we call with our own key and pay. */
export interface HubSettings {
  readonly name: string;
  /** URL up to and including the version, as OpenAI clients expect it: `https://hub.example/v1`. */
  readonly base_url: string;
  readonly api_key: string;
  /** Absent: `openai`. */
  readonly dialect?: Dialect | undefined;
  /** Ids of the text models that the hub serves. `svc/auto` uses the first one that supports the request. */
  readonly models: readonly string[];
  readonly image_models?: readonly string[];
  readonly audio_models?: readonly string[];
  readonly embedding_models?: readonly string[];
  /** The next four are subsets of `models`: ids of the models that accept images, audio, files, and a reasoning effort. */
  readonly vision_models?: readonly string[];
  readonly audio_input_models?: readonly string[];
  readonly file_input_models?: readonly string[];
  readonly reasoning_models?: readonly string[];
  /** Other names that the hub may use for a model in its answers, by model id. */
  readonly aliases?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Name of the member for the token limit, by model id, for models that do not accept the default name for their kind. */
  readonly token_limit_members?: Readonly<Record<string, TokenLimitMember>> | undefined;
  /** Names of the members that the hub accepts although this service does not know them. Absent: all. */
  readonly forward?: readonly string[] | undefined;
  /** Cost of one call to this service, by model id, in atomic USDC. Models without a known price are absent. */
  readonly prices?: Readonly<Record<string, number>> | undefined;
  /** Cost of tokens to this service, by model id, in atomic USDC per million tokens: `input` for the prompt, `output` for the answer. */
  readonly token_prices?: Readonly<Record<string, { readonly input: number; readonly output: number }>> | undefined;
}

/** Kinds of work that models do. `svc/auto` means any model of the kind that the request needs. */
export const modalities = ['text', 'image', 'audio', 'embedding'] as const satisfies readonly ModelKind[];
export type Modality = (typeof modalities)[number];

/** Kinds of input besides text that some text models accept. */
export type InputAbility = 'vision' | 'hearing' | 'files';

/** What a model must support for a request. */
export type Ability = Modality | InputAbility | 'message' | 'message_vision' | 'message_file';

/** Abilities and members that a text request requires of its hub and model. */
export interface TextDemand {
  readonly abilities: readonly InputAbility[];
  /** Names of members that this service does not know. */
  readonly members: readonly string[];
}
/** Ability and members that a message or an embedding request requires of its hub and model. */
export interface MemberDemand {
  readonly ability: Ability;
  readonly members: readonly string[];
  /**
   * `members` for a message that is sent as a chat, which include members that are known in messages but not in chats. Null if the message
   * has a member for which a chat has no place, so that it cannot be sent as a chat.
   */
  readonly as_chat?: readonly string[] | null;
}
export type Demand = Ability | TextDemand | MemberDemand;

const seeing = ({ models, vision_models = [] }: HubSettings) => models.filter(id => vision_models.includes(id));
const speaks = (dialect: Dialect, hub: HubSettings) => (hub.dialect ?? 'openai') === dialect;

/**
 * Ids of a hub's models that have an ability. Every hub can answer a message; other texts need OpenAI's dialect. A hub of Anthropic's
 * dialect reads files with its vision models.
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

/**
 * Names of the members unknown to this service that a request would send to the hub. Null if one of them cannot be sent in the hub's
 * dialect.
 */
function membersFor(hub: HubSettings, demand: TextDemand | MemberDemand): readonly string[] | null {
  if (!('as_chat' in demand) || demand.as_chat === undefined || speaks('anthropic', hub)) return demand.members;
  return demand.as_chat;
}

function isForwarded(members: readonly string[] | null, { forward }: HubSettings): boolean {
  return members !== null && (forward === undefined || members.every(name => forward.includes(name)));
}

/** Whether a hub has any model for a kind of work. */
export function hasModelsFor(hub: HubSettings, modality: Modality): boolean {
  return modelsFor[widest[modality]](hub).length > 0;
}

/** For each kind of work, the ability that all of its models have. */
const widest = { text: 'message', image: 'image', audio: 'audio', embedding: 'embedding' } as const satisfies Record<
  Modality,
  Ability
>;

/** Ids of all models of a hub, for every kind of work. */
export function modelIdsOf(hub: HubSettings): readonly string[] {
  return modalities.flatMap(modality => modelsFor[widest[modality]](hub));
}

/** A model at a hub to which the model id of a request may resolve. Both are disclosed to the caller. */
export interface Candidate {
  readonly hub: string;
  readonly model: string;
}

/** Name of the router where the hub that answered is disclosed. */
export const ROUTER = 'router';
export const ROUTER_PREFIX = `${ROUTER}/`;

/** Whether a model id is one of the router's. Only the router answers it, under the caller's own key. */
export function isRouted(model: string): boolean {
  return model.startsWith(ROUTER_PREFIX) && model !== ROUTER_PREFIX;
}

/** The id of a candidate's model at the hub that serves it. */
export function wireModel({ hub, model }: Candidate): string {
  return hub === ROUTER ? model.slice(ROUTER_PREFIX.length) : model;
}

/**
 * Candidates for a call, in configured order. Empty if no hub offers the model. `allowed_models`: ids that the call's book and grant allow;
 * null for all. For `svc/auto`, each hub is a candidate with the first of its models that is allowed. If no allowed model can answer, the
 * limit is ignored: such a call was refused earlier, unless it is already paid.
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

/**
 * Ids of all models that may answer a call, for the checks of books and grants. For `svc/auto` these are all models that support the
 * request.
 */
export function possibleModels(hubs: readonly HubSettings[], model: string, demand: Demand): readonly string[] {
  const ids = hubs.flatMap(hub => servingFor(hub, demand));
  return [...new Set(model === AUTO_MODEL ? ids : ids.filter(id => id === model))];
}

export interface OfferedModel {
  readonly id: string;
  /** Names of the hubs that offer the id, in configured order for each ability. */
  readonly hubs: readonly string[];
  /** Abilities that a request with this id may require. `svc/auto` has every ability that any hub has. */
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

/** Models of hubs that a call may name: `svc/auto` first, then every id of a hub once. */
export function offeredModels(hubs: readonly HubSettings[]): readonly OfferedModel[] {
  const ids = new Set([AUTO_MODEL, ...abilities.flatMap(ability => hubs.flatMap(modelsFor[ability]))]);
  return [...ids].map(id => {
    const by_ability = abilities.map(ability => ({ ability, candidates: candidatesFor(hubs, id, ability) }));
    const serving = by_ability.filter(({ candidates }) => candidates.length > 0);
    const names = serving.flatMap(({ candidates }) => candidates.map(({ hub }) => hub));
    return { id, hubs: [...new Set(names)], abilities: serving.map(({ ability }) => ability) };
  });
}
