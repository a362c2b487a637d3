import { canonicalHash, type Json } from '../../../../schema/canonical-json.ts';
import { Refusal } from '../../../../schema/errors.ts';
import type { ChatRequest } from '../../../../schema/requests/chat-completion.ts';
import { type ChatRequestMessage, imageAt } from '../../../../schema/requests/chat-message.ts';
import type { Piece } from '../../../piece.ts';
import type { Stream, Work, WorkThenSettle } from '../../../sale.ts';
import { admitRoute, answerPaid, boundRoute, callTerms, hubFailed, modelsFor, routeOf } from '../answer.paid.ts';
import { type Ability, candidatesFor, isRouted } from '../catalogue.ts';
import { type AssistantMessage, chatQuestion, type HubCompletion, isText } from '../hubs/chat.ts';
import type { Hubs } from '../hubs/open.ts';
import type { StreamedReply } from '../hubs/stream.ts';
import { providerCogs } from '../provider-cogs.ts';

/** Who is shown an image must be able to look at it. */
export function abilityFor(messages: readonly ChatRequestMessage[]): Ability {
  return imageAt(messages) === null ? 'text' : 'vision';
}

interface Shown {
  readonly model: string;
  readonly messages: readonly ChatRequestMessage[];
}

/**
 * The same, before any claim. @throws invalid_request, naming the image, where it is shown to a model that looks at none;
 * the router judges its own.
 */
export function requireAbility({ settings }: Hubs, { model, messages }: Shown, member: 'messages' | 'input'): Ability {
  const at = imageAt(messages);
  if (at === null) return 'text';
  if (isRouted(model) || candidatesFor(settings, model, 'vision').length > 0) return 'vision';
  if (candidatesFor(settings, model).length === 0) throw new Refusal('unknown_model', { param: 'model' });
  const param = `${member}.${at}`;
  throw new Refusal('invalid_request', { param, detail: `${param}: the model ${model} looks at no images here.` });
}

/**
 * What the receipt of a chat commits to: its choices where they are text, as ever, and else the message, with all that it
 * calls. The receipt policy says so, and anybody can compute it from the answer, whole or streamed.
 */
function committedOf(choices: KeptChat['choices']): Json {
  const [choice] = choices;
  return choice && !isText(choice.message) ? choice.message : choices;
}

/** A message that was kept, as pieces of a stream. */
export function piecesOf({ content, tool_calls = [], refusal }: AssistantMessage): readonly Piece[] {
  const calls = tool_calls.map(({ id, function: called }, call) => ({ call, id, ...called }));
  return [...(content ? [content] : []), ...(refusal === undefined ? [] : [{ refusal }]), ...calls];
}

/** The answer as it is kept: plain JSON in the words of the wire, so that a replay projects the same bytes again. */
export type KeptChat = {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  /** The model that answered, whatever alias was asked for. */
  readonly model: string;
  readonly hub: string;
  readonly choices: readonly {
    readonly index: number;
    readonly message: AssistantMessage;
    readonly finish_reason: string | null;
  }[];
  readonly usage: HubCompletion['usage'];
};

/** What one chat completion is sold for, whole or streamed. */
const chatTerms = {
  ...callTerms,
  job_kind: 'completions',
  model: ({ model }: ChatRequest) => model,
} as const;

/** One chat completion, sold at the fixed price: the hub answers first, and only an answer in hand is charged. */
export function completionPaid(hubs: Hubs): WorkThenSettle<ChatRequest, KeptChat> {
  const sold = answerPaid<ChatRequest, HubCompletion, KeptChat>(hubs, {
    field: 'Mutation.createChatCompletion',
    job_kind: chatTerms.job_kind,
    modality: 'text',
    ability: ({ messages }) => abilityFor(messages),
    question: chatQuestion,
    usage: ({ usage }) => usage,
    answer({ value, by, task_id, at }) {
      return {
        answer: { id: `chatcmpl-${task_id}`, created: at, ...by, ...value },
        output: committedOf(value.choices),
      };
    },
  });
  return {
    ...sold,
    async admit(request, _payer, context) {
      requireWhole(request, 'chatCompletionStream');
      await admitRoute(hubs, request, requireAbility(hubs, request, 'messages'), context);
    },
  };
}

/** @throws invalid_request where an answer in many pieces is asked for, which another field gives. */
export function requireWhole({ stream }: { readonly stream?: boolean }, elsewhere: string): void {
  if (!stream) return;
  const detail = `stream: this field answers in one piece, ${elsewhere} in many.`;
  throw new Refusal('invalid_request', { param: 'stream', detail });
}

/** How the answer of a hub that broke off ends: not by a word of its own. */
export const BROKE_OFF = 'error';

/** One chat completion, sold while it streams: charged when the hub has begun, brought to its end in any case. */
export function completionStream(hubs: Hubs): Stream<ChatRequest, KeptChat> {
  return {
    ...chatTerms,
    order: 'stream',
    field: 'Subscription.chatCompletionStream',
    models: ({ model, messages }) => modelsFor(hubs, model, abilityFor(messages)),
    async admit(request, _payer, context) {
      await admitRoute(hubs, request, requireAbility(hubs, request, 'messages'), context);
    },
    async open(request, task_id, context, bounds) {
      const route = boundRoute(routeOf(hubs, request, abilityFor(request.messages), context), bounds);
      const outcome = await hubs.stream(request, route);
      if (outcome.kind === 'failed') throw hubFailed(outcome.attempts);
      const { hub, model, listening } = outcome;
      const created = Math.floor(context.clock.now_ms() / 1000);
      const begun: KeptChat = { id: `chatcmpl-${task_id}`, created, model, hub, choices: [], usage: null };
      const { pieces, cancel } = listening;
      return { route: { hub, model }, begun, pieces, cancel, spoken: () => workOf(hubs, begun, listening.reply()) };
    },
    piecesOf: answer => answer.choices.flatMap(({ message }) => piecesOf(message)),
  };
}

/** An answer is delivered as far as it came; the receipt commits to it only where it came to its end. */
function workOf(
  { settings }: Hubs,
  begun: KeptChat,
  { message, finish_reason, usage, broke_off }: StreamedReply,
): Work<KeptChat> {
  const whole = broke_off === null;
  const route = { hub: begun.hub, model: begun.model };
  const choices = [{ index: 0, message, finish_reason: whole ? finish_reason : BROKE_OFF }];
  return {
    answer: { ...begun, choices, usage },
    route,
    provider_cogs: providerCogs(settings, route, usage),
    output_sha256: whole ? canonicalHash(committedOf(choices)) : null,
    omission_rule: whole ? null : broke_off === 'cancelled' ? 'process_ended' : 'hub_broke_off',
  };
}
