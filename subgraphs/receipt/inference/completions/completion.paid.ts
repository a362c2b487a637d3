import { canonicalHash } from '../../../../schema/digest.ts';
import { Refusal } from '../../../../schema/errors.ts';
import { limits } from '../../../../schema/limits.ts';
import type { ChatRequest } from '../../../../schema/requests/chat-completion.ts';
import type { Work, WorkThenSettle } from '../../../paid.ts';
import { type Candidate, candidatesFor } from '../catalogue.ts';
import type { HubCompletion } from '../hubs/completion.ts';
import type { Attempt, Hubs } from '../hubs/open.ts';

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

/** What one chat completion is sold for, whole or streamed. */
export const chatTerms = {
  job_kind: 'completions',
  price_atomic: limits.call_price_atomic,
  networks: ['base', 'solana'],
  intent: ({ intent_id, attempt_index }: ChatRequest) => ({ intent_id, attempt_index }),
  model: ({ model }: ChatRequest) => model,
} as const;

/** One chat completion, sold at the fixed price: the hub answers first, and only an answer in hand is charged. */
export function completionPaid(hubs: Hubs): WorkThenSettle<ChatRequest, ChatAnswer> {
  return {
    ...chatTerms,
    order: 'work_then_settle',
    field: 'Mutation.createChatCompletion',
    async admit(request) {
      requireWhole(request);
      candidatesOf(hubs, request);
    },
    async work(request, task_id, context, until_ms): Promise<Work<ChatAnswer>> {
      const outcome = await hubs.complete(request, { candidates: candidatesOf(hubs, request), until_ms });
      if (outcome.kind === 'failed') throw hubFailed(outcome.attempts);
      const { hub, model, completion } = outcome;
      const created = Math.floor(context.clock.now_ms() / 1000);
      return {
        answer: { id: `chatcmpl-${task_id}`, created, model, hub, ...completion },
        route: { hub, model },
        output_sha256: canonicalHash(completion.choices),
        omission_rule: null,
      };
    },
  };
}

/** Where the request may be answered. @throws before any claim where it cannot be. */
export function candidatesOf(hubs: Hubs, request: ChatRequest): readonly Candidate[] {
  const candidates = candidatesFor(hubs.settings, request.model);
  if (candidates.length === 0) throw new Refusal('unknown_model', { param: 'model' });
  return candidates;
}

export function hubFailed(attempts: readonly Attempt[]): Refusal {
  return new Refusal('hub_failed', {
    detail: 'No model hub answered. Nothing was charged; the payment stays usable.',
    facts: { charged: false, attempts: attempts.map(attempt => ({ ...attempt })) },
  });
}

function requireWhole({ stream }: ChatRequest): void {
  if (!stream) return;
  const detail = 'stream: this field answers in one piece, chatCompletionStream in many.';
  throw new Refusal('invalid_request', { param: 'stream', detail });
}
