import { canonicalHash } from '../../../../schema/canonical-json.ts';
import type { ResponseCall } from '../../../../schema/requests/responses.ts';
import type { Piece } from '../../../piece.ts';
import type { Stream, Work, WorkThenSettle } from '../../../sale.ts';
import { admitRoute, answerPaid, boundRoute, callTerms, hubFailed, modelsFor, routeOf } from '../answer.paid.ts';
import { abilityFor, requireAbility, requireWhole } from '../completions/completion.paid.ts';
import type { HubRequest, Usage } from '../hubs/chat.ts';
import type { Hubs } from '../hubs/open.ts';
import type { StreamedReply } from '../hubs/stream.ts';
import { providerCogs } from '../provider-cogs.ts';
import {
  faultOf,
  type HubReply,
  type OutputFault,
  type OutputItem,
  outcomeOf,
  outputOf,
  replyQuestion,
} from './output.ts';

/** The answer as it is kept: plain JSON in the words of the wire, so that a replay projects the same bytes again. */
export type KeptResponse = {
  readonly id: string;
  /** Unix seconds. */
  readonly created_at: number;
  readonly model: string;
  readonly hub: string;
  readonly output: readonly OutputItem[];
  readonly fault: OutputFault | null;
  readonly usage: Usage | null;
};

/** What one response is sold for, whole or streamed. */
const responseTerms = {
  ...callTerms,
  job_kind: 'completions',
  model: ({ model }: ResponseCall) => model,
} as const;

/** The chat that it comes to. */
function askedOf({ input: messages, max_output_tokens: max_tokens, ...asked }: ResponseCall): HubRequest {
  return { ...asked, messages, max_tokens };
}

/** One response, sold as a chat completion is. */
export function responsePaid(hubs: Hubs): WorkThenSettle<ResponseCall, KeptResponse> {
  const sold = answerPaid<ResponseCall, HubReply, KeptResponse>(hubs, {
    field: 'Mutation.createResponse',
    job_kind: responseTerms.job_kind,
    modality: 'text',
    ability: ({ input }) => abilityFor(input),
    question: request => replyQuestion(askedOf(request)),
    usage: ({ usage }) => usage,
    answer({ value, by, task_id, at }) {
      const { output, fault } = outcomeOf(value, task_id);
      const answer = { id: `resp_${task_id}`, created_at: at, ...by, output, fault, usage: value.usage };
      return { answer, output };
    },
  });
  return {
    ...sold,
    async admit(request, _payer, context) {
      requireWhole(request, 'responseStream');
      const ability = requireAbility(hubs, { model: request.model, messages: request.input }, 'input');
      await admitRoute(hubs, request, ability, context);
    },
  };
}

const BROKE_OFF: OutputFault = { code: 'server_error', message: 'The hub broke off in the midst of its answer.' };

/** One response, sold while it streams, as a streamed chat is: brought to its end in any case. */
export function responseStream(hubs: Hubs): Stream<ResponseCall, KeptResponse> {
  return {
    ...responseTerms,
    order: 'stream',
    field: 'Subscription.responseStream',
    models: ({ model, input }) => modelsFor(hubs, model, abilityFor(input)),
    async admit(request, _payer, context) {
      const ability = requireAbility(hubs, { model: request.model, messages: request.input }, 'input');
      await admitRoute(hubs, request, ability, context);
    },
    async open(request, task_id, context, bounds) {
      const route = boundRoute(routeOf(hubs, request, abilityFor(request.input), context), bounds);
      const outcome = await hubs.stream(askedOf(request), route);
      if (outcome.kind === 'failed') throw hubFailed(outcome.attempts);
      const { hub, model, listening } = outcome;
      const created_at = Math.floor(context.clock.now_ms() / 1000);
      const head = { id: `resp_${task_id}`, created_at, model, hub };
      const begun: KeptResponse = { ...head, output: [], fault: null, usage: null };
      const { pieces, cancel } = listening;
      const spoken = () => workOf(hubs, begun, task_id, listening.reply());
      return { route: { hub, model }, begun, pieces, cancel, spoken };
    },
    piecesOf: ({ output }) => output.flatMap((item, index) => piecesOf(item, callsBefore(output, index))),
  };
}

/** An answer is delivered as far as it came; the receipt commits to it only where it came to its end. */
function workOf({ settings }: Hubs, begun: KeptResponse, task_id: string, reply: StreamedReply): Work<KeptResponse> {
  const { message, began, finish_reason, usage, broke_off } = reply;
  const fault = broke_off === null ? faultOf(finish_reason, message) : BROKE_OFF;
  const status = fault || finish_reason === 'length' ? 'incomplete' : 'completed';
  const output = outputOf(message, { task_id, status, began });
  const route = { hub: begun.hub, model: begun.model };
  return {
    answer: { ...begun, output, fault, usage },
    route,
    provider_cogs: providerCogs(settings, route, usage),
    output_sha256: broke_off === null ? canonicalHash(output) : null,
    omission_rule: broke_off === null ? null : broke_off === 'cancelled' ? 'process_ended' : 'hub_broke_off',
  };
}

function callsBefore(output: readonly OutputItem[], index: number): number {
  return output.slice(0, index).filter(({ type }) => type === 'function_call').length;
}

function piecesOf(item: OutputItem, call: number): Piece[] {
  if (item.type === 'function_call') return [{ call, id: item.call_id, name: item.name, arguments: item.arguments }];
  const pieces = item.content.map(part => (part.type === 'output_text' ? part.text : { refusal: part.refusal }));
  return pieces.filter(piece => piece !== '');
}
