import type { ResponseCall } from '../../../../schema/requests/responses.ts';
import type { WorkThenSettle } from '../../../sale.ts';
import { answerPaid } from '../answer.paid.ts';
import { requireWhole } from '../completions/completion.paid.ts';
import { abilityFor, requireSight } from '../completions/image-input.ts';
import type { HubRequest } from '../hubs/chat.ts';
import type { Usage } from '../hubs/completion.ts';
import type { Hubs } from '../hubs/open.ts';
import { callTerms } from '../terms.ts';
import { type Fault, type OutputItem, outcomeOf } from './output.ts';
import { type HubReply, replyQuestion } from './reply.ts';

/** The answer as it is kept: plain JSON in the words of the wire, so that a replay projects the same bytes again. */
export type ResponseAnswer = {
  readonly id: string;
  /** Unix seconds. */
  readonly created_at: number;
  readonly model: string;
  readonly hub: string;
  readonly output: readonly OutputItem[];
  readonly fault: Fault | null;
  readonly usage: Usage | null;
};

/** What one response is sold for, whole or streamed. */
export const responseTerms = {
  ...callTerms,
  job_kind: 'completions',
  model: ({ model }: ResponseCall) => model,
} as const;

/** The chat that it comes to. */
export function askedOf({ input: messages, max_output_tokens: max_tokens, ...asked }: ResponseCall): HubRequest {
  return { ...asked, messages, max_tokens };
}

/** One response, sold as a chat completion is. */
export function responsePaid(hubs: Hubs): WorkThenSettle<ResponseCall, ResponseAnswer> {
  const sold = answerPaid<ResponseCall, HubReply, ResponseAnswer>(hubs, {
    field: 'Mutation.createResponse',
    job_kind: responseTerms.job_kind,
    modality: 'text',
    ability: ({ input }) => abilityFor(input),
    question: request => replyQuestion(askedOf(request)),
    answer({ value, by, task_id, at }) {
      const { output, fault } = outcomeOf(value, task_id);
      const answer = { id: `resp_${task_id}`, created_at: at, ...by, output, fault, usage: value.usage };
      return { answer, output };
    },
  });
  return {
    ...sold,
    async admit(request, payer, context) {
      requireWhole(request, 'responseStream');
      requireSight(hubs, { model: request.model, messages: request.input }, 'input');
      await sold.admit?.(request, payer, context);
    },
  };
}
