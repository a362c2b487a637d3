import { canonicalHash } from '../../../../schema/digest.ts';
import { Refusal } from '../../../../schema/errors.ts';
import { limits } from '../../../../schema/limits.ts';
import type { ChatRequest } from '../../../../schema/requests/chat-completion.ts';
import type { WorkThenSettle } from '../../../paid.ts';
import { type Candidate, candidatesFor } from '../catalogue.ts';
import type { HubCompletion } from '../hubs/completion.ts';
import type { Hubs } from '../hubs/open.ts';

/** The answer as it is kept: plain JSON in the words of the wire, so that a replay projects the same bytes again. */
export type ChatAnswer = {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  /** The model that answered, whatever alias was asked for. */
  readonly model: string;
  readonly hub: string;
  readonly choices: HubCompletion['choices'];
  readonly usage: HubCompletion['usage'];
};

/** One chat completion, sold at the fixed price: the hub answers first, and only an answer in hand is charged. */
export function completionPaid(hubs: Hubs): WorkThenSettle<ChatRequest, ChatAnswer> {
  return {
    order: 'work_then_settle',
    field: 'Mutation.createChatCompletion',
    job_kind: 'completions',
    price_atomic: limits.call_price_atomic,
    networks: ['base', 'solana'],
    intent: ({ intent_id, attempt_index }) => ({ intent_id, attempt_index }),
    async admit(request) {
      admissible(hubs, request);
    },
    async work(request, task_id, context) {
      const candidates = admissible(hubs, request);
      const outcome = await hubs.complete(request, { candidates });
      if (outcome.kind === 'failed')
        throw new Refusal('hub_failed', {
          facts: { charged: false, attempts: outcome.attempts.map(attempt => ({ ...attempt })) },
        });
      const { hub, model, completion } = outcome;
      const created = Math.floor(context.clock.now_ms() / 1000);
      return {
        answer: { id: `chatcmpl-${task_id}`, created, model, hub, ...completion },
        route: { hub, model },
        output_sha256: canonicalHash(completion.choices),
      };
    },
  };
}

/** Where the request may be answered. @throws before any claim where it cannot be. */
function admissible(hubs: Hubs, request: ChatRequest): readonly Candidate[] {
  if (request.stream) {
    throw new Refusal('invalid_request', { param: 'stream', detail: 'stream: answers are not streamed yet' });
  }
  const candidates = candidatesFor(hubs.settings, request.model);
  if (candidates.length === 0) throw new Refusal('unknown_model', { param: 'model' });
  return candidates;
}
