import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import { type ChatRequestMessage, partAt } from '../../../schema/requests/chat-message.ts';
import type { PartKind } from '../../../schema/requests/content.ts';
import { type UnknownMember, unknownMembers } from '../../../schema/requests/forwarded/known-members.ts';
import {
  type Ability,
  candidatesFor,
  type Demand,
  type InputAbility,
  isRouted,
  offeredModels,
  type TextDemand,
} from './catalogue.ts';
import type { Hubs } from './hubs/open.ts';

/* What a chat requires of its model and hub: images, audio and files, and members that this service does not know. */

/** By kind of part: the ability that a model needs to accept it, and the words of the error if the model does not have it. */
const abilities = {
  image_url: ['vision', 'does not accept images'],
  input_audio: ['hearing', 'does not accept audio'],
  file: ['files', 'does not accept files'],
} as const satisfies Record<PartKind, readonly [InputAbility, string]>;
const kinds = Object.keys(abilities) as PartKind[];

interface TextRequest {
  readonly model: string;
  readonly messages: readonly ChatRequestMessage[];
}

/** Demands by request. They are cached, because admission, the book and the choice of a hub each need the demand. */
const demands = new WeakMap<JsonObject, TextDemand>();

/** Demand of a chat. `asked` is the request itself, in the form to which its payment is bound. */
export function demandOf(asked: JsonObject, messages: readonly ChatRequestMessage[]): TextDemand {
  const known = demands.get(asked);
  if (known) return known;
  const members = [...new Set(unknownMembers(asked).map(({ name }) => name))];
  const demand = { abilities: partsIn(messages).map(kind => abilities[kind][0]), members };
  demands.set(asked, demand);
  return demand;
}

function partsIn(messages: readonly ChatRequestMessage[]): readonly PartKind[] {
  return kinds.filter(kind => partAt(messages, kind) !== null);
}

/**
 * Demand of a chat, checked before any claim so that no part of a request is dropped silently. Requests to the router are not checked,
 * because the router decides itself what it accepts.
 * @throws invalid_request, naming the part that the model does not accept, or the member that no hub of that model accepts; unknown_model
 */
export function requireServed(
  { settings }: Pick<Hubs, 'settings'>,
  asked: JsonObject & Pick<TextRequest, 'model'>,
  messages: readonly ChatRequestMessage[],
  list: 'messages' | 'input',
): TextDemand {
  const demand = demandOf(asked, messages);
  const { model } = asked;
  const isServed = (part: Partial<TextDemand>) =>
    candidatesFor(settings, model, { abilities: [], members: [], ...part }).length > 0;
  if (isRouted(model) || isServed(demand)) return demand;
  if (!isServed({})) throw unofferedModel({ settings }, model, 'text');
  for (const kind of partsIn(messages)) {
    const [ability, lack] = abilities[kind];
    if (!isServed({ abilities: [ability] }))
      throw invalidRequest(`${list}.${partAt(messages, kind)}`, `the model ${model} ${lack} here`);
  }
  const [first = list] = partsIn(messages).map(kind => `${list}.${partAt(messages, kind)}`);
  if (!isServed({ abilities: demand.abilities }))
    throw invalidRequest(first, 'no model accepts all kinds of parts in this request');
  throw memberNotServed(model, unknownMembers(asked), ({ name }) =>
    isServed({ abilities: demand.abilities, members: [name] }),
  );
}

/**
 * Error for members that no hub of the model accepts together. It names the first member that no hub accepts, or all of them if each is
 * accepted alone.
 */
export function memberNotServed<M extends UnknownMember>(
  model: string,
  members: readonly M[],
  isTaken: (member: M) => boolean,
): Refusal {
  const member = members.find(one => !isTaken(one));
  if (member) return invalidRequest(member.at, `no hub of ${model} accepts this member`);
  const names = [...new Set(members.map(({ name }) => name))];
  const [{ at }] = members as readonly [M];
  return invalidRequest(at, `no single hub of ${model} accepts ${names.join(', ')} together`);
}

export function invalidRequest(param: string, what: string): Refusal {
  return new Refusal('invalid_request', { param, detail: `${param}: ${what}.` });
}

/** Words for a kind of work, in the error for a model that is not offered for it. */
const uses: Partial<Record<Ability, string>> = {
  text: 'chats',
  message: 'messages',
  image: 'images',
  audio: 'transcriptions',
  embedding: 'embeddings',
};

/** Error for a model that cannot answer: it is not offered for this kind of work, or its id is unknown. */
export function unofferedModel({ settings }: Pick<Hubs, 'settings'>, model: string, demand: Demand): Refusal {
  const use = uses[typeof demand === 'string' ? demand : 'ability' in demand ? demand.ability : 'text'];
  const is_offered = offeredModels(settings).some(({ id }) => id === model);
  if (use === undefined || !is_offered) return new Refusal('unknown_model', { param: 'model' });
  return new Refusal('unknown_model', { param: 'model', detail: `The model ${model} is not offered for ${use}.` });
}
