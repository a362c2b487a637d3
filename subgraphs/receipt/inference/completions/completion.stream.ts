import { canonicalHash } from '../../../../schema/digest.ts';
import type { ChatRequest } from '../../../../schema/requests/chat-completion.ts';
import type { Stream, Work } from '../../../sale.ts';
import type { Hubs } from '../hubs/open.ts';
import type { Spoken } from '../hubs/speech.ts';
import { admitRoute, hubFailed, routeOf } from '../route.ts';
import { type ChatAnswer, chatTerms } from './completion.paid.ts';
import { abilityFor, requireSight } from './image-input.ts';
import { committedOf, piecesOf } from './output-hash.ts';

/** How the answer of a hub that broke off ends: not by a word of its own. */
export const BROKE_OFF = 'error';

/** One chat completion, sold while it is spoken: charged when the hub has begun, brought to its end in any case. */
export function completionStream(hubs: Hubs): Stream<ChatRequest, ChatAnswer> {
  return {
    ...chatTerms,
    order: 'stream',
    field: 'Subscription.chatCompletionStream',
    async admit(request, _payer, context) {
      requireSight(hubs, request, 'messages');
      await admitRoute(hubs, request, abilityFor(request.messages), context);
    },
    async open(request, task_id, context, until_ms) {
      const outcome = await hubs.stream(request, {
        ...routeOf(hubs, request, abilityFor(request.messages), context),
        until_ms,
      });
      if (outcome.kind === 'failed') throw hubFailed(outcome.attempts);
      const { hub, model, listening } = outcome;
      const created = Math.floor(context.clock.now_ms() / 1000);
      const begun: ChatAnswer = { id: `chatcmpl-${task_id}`, created, model, hub, choices: [], usage: null };
      const { pieces, cancel } = listening;
      return { route: { hub, model }, begun, pieces, cancel, spoken: () => workOf(begun, listening.spoken()) };
    },
    piecesOf: answer => answer.choices.flatMap(({ message }) => piecesOf(message)),
  };
}

/** What was said is delivered as far as it came; the receipt commits to it only where it came to its end. */
function workOf(begun: ChatAnswer, { message, finish_reason, usage, broke_off }: Spoken): Work<ChatAnswer> {
  const whole = broke_off === null;
  const choices = [{ index: 0, message, finish_reason: whole ? finish_reason : BROKE_OFF }];
  return {
    answer: { ...begun, choices, usage },
    route: { hub: begun.hub, model: begun.model },
    output_sha256: whole ? canonicalHash(committedOf(choices)) : null,
    omission_rule: whole ? null : broke_off === 'cancelled' ? 'process_ended' : 'hub_broke_off',
  };
}
