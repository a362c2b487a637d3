import { canonicalHash } from '../../../../schema/digest.ts';
import { Refusal } from '../../../../schema/errors.ts';
import type { ChatRequest } from '../../../../schema/requests/chat-completion.ts';
import type { Work, WorkThenSettle } from '../../../paid.ts';
import { chatQuestion } from '../hubs/chat.ts';
import type { HubCompletion } from '../hubs/completion.ts';
import type { Hubs } from '../hubs/open.ts';
import { hubFailed, routeOf } from '../route.ts';
import { callTerms } from '../terms.ts';

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
  ...callTerms,
  job_kind: 'completions',
  model: ({ model }: ChatRequest) => model,
} as const;

/** One chat completion, sold at the fixed price: the hub answers first, and only an answer in hand is charged. */
export function completionPaid(hubs: Hubs): WorkThenSettle<ChatRequest, ChatAnswer> {
  return {
    ...chatTerms,
    order: 'work_then_settle',
    field: 'Mutation.createChatCompletion',
    async admit(request, _payer, context) {
      requireWhole(request);
      routeOf(hubs, request, 'text', context);
    },
    async work(request, task_id, context, until_ms): Promise<Work<ChatAnswer>> {
      const asking = { ...routeOf(hubs, request, 'text', context), until_ms };
      const outcome = await hubs.put(chatQuestion(request), asking);
      if (outcome.kind === 'failed') throw hubFailed(outcome.attempts);
      const { hub, model, value: completion } = outcome;
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

function requireWhole({ stream }: ChatRequest): void {
  if (!stream) return;
  const detail = 'stream: this field answers in one piece, chatCompletionStream in many.';
  throw new Refusal('invalid_request', { param: 'stream', detail });
}
