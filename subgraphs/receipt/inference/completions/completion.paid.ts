import { Refusal } from '../../../../schema/errors.ts';
import type { ChatRequest } from '../../../../schema/requests/chat-completion.ts';
import type { WorkThenSettle } from '../../../sale.ts';
import { answerPaid } from '../answer.paid.ts';
import { chatQuestion } from '../hubs/chat.ts';
import type { HubCompletion } from '../hubs/completion.ts';
import type { AssistantMessage } from '../hubs/message.ts';
import type { Hubs } from '../hubs/open.ts';
import { callTerms } from '../terms.ts';
import { abilityFor, requireSight } from './image-input.ts';
import { committedOf } from './output-hash.ts';

/** The answer as it is kept: plain JSON in the words of the wire, so that a replay projects the same bytes again. */
export type ChatAnswer = {
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
export const chatTerms = {
  ...callTerms,
  job_kind: 'completions',
  model: ({ model }: ChatRequest) => model,
} as const;

/** One chat completion, sold at the fixed price: the hub answers first, and only an answer in hand is charged. */
export function completionPaid(hubs: Hubs): WorkThenSettle<ChatRequest, ChatAnswer> {
  const sold = answerPaid<ChatRequest, HubCompletion, ChatAnswer>(hubs, {
    field: 'Mutation.createChatCompletion',
    job_kind: chatTerms.job_kind,
    modality: 'text',
    ability: ({ messages }) => abilityFor(messages),
    question: chatQuestion,
    answer({ value, by, task_id, at }) {
      return {
        answer: { id: `chatcmpl-${task_id}`, created: at, ...by, ...value },
        output: committedOf(value.choices),
      };
    },
  });
  return {
    ...sold,
    async admit(request, payer, context) {
      requireWhole(request, 'chatCompletionStream');
      requireSight(hubs, request, 'messages');
      await sold.admit?.(request, payer, context);
    },
  };
}

/** @throws invalid_request where an answer in many pieces is asked for, which another field gives. */
export function requireWhole({ stream }: { readonly stream?: boolean }, elsewhere: string): void {
  if (!stream) return;
  const detail = `stream: this field answers in one piece, ${elsewhere} in many.`;
  throw new Refusal('invalid_request', { param: 'stream', detail });
}
