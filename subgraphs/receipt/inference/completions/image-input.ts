import { Refusal } from '../../../../schema/errors.ts';
import { type ChatMessage, imageAt } from '../../../../schema/requests/chat-message.ts';
import { type Ability, candidatesFor, isRouted } from '../catalogue.ts';
import type { Hubs } from '../hubs/open.ts';

/** Who is shown an image must be able to look at it. */
export function abilityFor(messages: readonly ChatMessage[]): Ability {
  return imageAt(messages) === null ? 'text' : 'vision';
}

interface Shown {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
}

/** @throws invalid_request, naming the image, where it is shown to a model that looks at none; the router judges its own. */
export function requireSight({ settings }: Hubs, { model, messages }: Shown, member: 'messages' | 'input'): void {
  const at = imageAt(messages);
  if (at === null || isRouted(model) || candidatesFor(settings, model, 'vision').length > 0) return;
  if (candidatesFor(settings, model).length === 0) throw new Refusal('unknown_model', { param: 'model' });
  const param = `${member}.${at}`;
  throw new Refusal('invalid_request', { param, detail: `${param}: the model ${model} looks at no images here.` });
}
