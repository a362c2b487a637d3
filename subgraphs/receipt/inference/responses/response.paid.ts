import type { ResponseCall } from '../../../../schema/requests/responses.ts';
import type { WorkThenSettle } from '../../../paid.ts';
import { answerPaid } from '../answer.paid.ts';
import { abilityFor, requireSight } from '../completions/sight.ts';
import type { Usage } from '../hubs/completion.ts';
import type { Hubs } from '../hubs/open.ts';
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

/** One response, sold as a chat completion is. */
export function responsePaid(hubs: Hubs): WorkThenSettle<ResponseCall, ResponseAnswer> {
  const sold = answerPaid<ResponseCall, HubReply, ResponseAnswer>(hubs, {
    field: 'Mutation.createResponse',
    job_kind: 'completions',
    modality: 'text',
    ability: ({ input }) => abilityFor(input),
    question: ({ input: messages, max_output_tokens: max_tokens, ...asked }) =>
      replyQuestion({ ...asked, messages, max_tokens }),
    answer({ value, by, task_id, at }) {
      const { output, fault } = outcomeOf(value, task_id);
      const answer = { id: `resp_${task_id}`, created_at: at, ...by, output, fault, usage: value.usage };
      return { answer, output };
    },
  });
  return {
    ...sold,
    async admit(request, payer, context) {
      requireSight(hubs, { model: request.model, messages: request.input }, 'input');
      await sold.admit?.(request, payer, context);
    },
  };
}
