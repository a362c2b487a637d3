import { commitTo } from '../../../../schema/output-commitment.ts';
import { formerArgs } from '../../../../schema/requests/forwarded/known-members.ts';
import type { ResponseCall } from '../../../../schema/requests/responses.ts';
import type { Piece } from '../../../piece.ts';
import { type BrokenBy, omissionOf, type Stream, type Work, type WorkThenSettle } from '../../../sale.ts';
import { admitRoute, answerPaid, autoModels, boundRoute, callTerms, hubFailed, modelsFor } from '../answer.paid.ts';
import { answeredRoute } from '../answered-model.ts';
import { broke_off_before } from '../broken-stream.ts';
import { requireWhole } from '../completions/completion.paid.ts';
import { demandOf, requireServed } from '../demand.ts';
import type { BrokeOff } from '../hubs/broke-off.ts';
import type { HubRequest, Usage } from '../hubs/chat.ts';
import type { HeardReply, Hubs } from '../hubs/open.ts';
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
  /** Left out of an answer that is whole. */
  readonly broke_off?: BrokeOff;
};

/** What one response is sold for, whole or streamed. */
const responseTerms = {
  ...callTerms,
  job_kind: 'completions',
  model: ({ model }: ResponseCall) => model,
  former_args: formerArgs,
} as const;

/** The chat that it comes to. */
function askedOf({ input: messages, max_output_tokens: max_tokens, ...asked }: ResponseCall): HubRequest {
  return { ...asked, messages, max_tokens };
}

const isReturnable = ({ include }: ResponseCall) => include !== undefined;

/** One response, sold as a chat completion is. */
export function responsePaid(hubs: Hubs): WorkThenSettle<ResponseCall, KeptResponse> {
  const sold = answerPaid<ResponseCall, HubReply, KeptResponse>(hubs, {
    field: 'Mutation.createResponse',
    job_kind: responseTerms.job_kind,
    modality: 'text',
    demand: request => demandOf(request, request.input),
    question: request => replyQuestion(askedOf(request)),
    usage: ({ usage }) => usage,
    answer({ asked, value, by, task_id, at }) {
      const { output, fault } = outcomeOf(value, { task_id, returnable: isReturnable(asked) });
      const answer = { id: `resp_${task_id}`, created_at: at, ...by, output, fault, usage: value.usage };
      return { answer, output, output_member: 'output' };
    },
  });
  return {
    ...sold,
    former_args: formerArgs,
    async admit(request, _payer, context) {
      requireWhole(request, 'responseStream');
      await admitRoute(hubs, request, requireServed(hubs, request, request.input, 'input'), context);
    },
  };
}

const faults: Readonly<Record<BrokenBy, OutputFault>> = {
  hub: { code: 'server_error', message: 'The hub broke off in the midst of its answer.' },
  request: { code: 'server_error', message: 'The hub refused this request in the midst of its answer.' },
  limit: { code: 'server_error', message: 'The answer reached a limit of this service before it was whole.' },
  stop: { code: 'server_error', message: 'This service was stopped before the answer was whole.' },
};

/** Why a kept answer is not whole; null where it is. Those of before say it by their fault alone. */
export function responseBreakOf({ broke_off, fault }: KeptResponse): BrokeOff | null {
  return broke_off ?? (fault?.code === 'server_error' ? broke_off_before : null);
}

/** One response, sold while it streams, as a streamed chat is: brought to its end in any case. */
export function responseStream(hubs: Hubs): Stream<ResponseCall, KeptResponse> {
  return {
    ...responseTerms,
    order: 'stream',
    field: 'Subscription.responseStream',
    models: request => modelsFor(hubs, request.model, demandOf(request, request.input)),
    auto_models: request => autoModels(hubs, request.model, demandOf(request, request.input)),
    async admit(request, _payer, context) {
      await admitRoute(hubs, request, requireServed(hubs, request, request.input, 'input'), context);
    },
    async open(request, task_id, context, bounds) {
      const route = boundRoute(hubs, request, demandOf(request, request.input), context, bounds);
      const outcome = await hubs.stream(askedOf(request), route);
      if (outcome.kind === 'failed') throw hubFailed(outcome.attempts);
      const { hub, model, listening } = outcome;
      const created_at = Math.floor(context.clock.now_ms() / 1000);
      const head = { id: `resp_${task_id}`, created_at, model, hub };
      const begun: KeptResponse = { ...head, output: [], fault: null, usage: null };
      const { pieces, cancel } = listening;
      const spoken = () => workOf(hubs, begun, { task_id, returnable: isReturnable(request) }, listening.reply());
      return { route: { hub, model }, begun, pieces, cancel, spoken };
    },
    piecesOf: ({ output }) => output.flatMap((item, index) => piecesOf(item, callsBefore(output, index))),
  };
}

/** An answer is delivered as far as it came; the receipt commits to it only where it came to its end. */
function workOf(
  { settings }: Hubs,
  begun: KeptResponse,
  asked: { readonly task_id: string; readonly returnable: boolean },
  reply: HeardReply,
): Work<KeptResponse> {
  const { message, began, reasoning_text, finish_reason, usage, answered_model, broken } = reply;
  const fault = broken ? faults[broken.by] : faultOf(finish_reason, message);
  const status = fault || finish_reason === 'length' ? 'incomplete' : 'completed';
  const output = outputOf(message, { ...asked, status, began, reasoning_text });
  const route = { hub: begun.hub, model: begun.model };
  return {
    answer: { ...begun, output, fault, usage, ...(broken && { broke_off: broken }) },
    route: answeredRoute(settings, route, answered_model),
    provider_cogs: providerCogs(settings, route, usage),
    ...(broken ? { output_sha256: null } : commitTo({ output, output_member: 'output' })),
    omission_rule: broken && omissionOf[broken.by],
    broke_off: broken?.by ?? null,
  };
}

function callsBefore(output: readonly OutputItem[], index: number): number {
  return output.slice(0, index).filter(({ type }) => type === 'function_call').length;
}

function piecesOf(item: OutputItem, call: number): Piece[] {
  if (item.type === 'function_call') return [{ call, id: item.call_id, name: item.name, arguments: item.arguments }];
  const pieces = item.content.map((part): Piece => {
    if (part.type === 'output_text') return part.text;
    if (part.type === 'refusal') return { refusal: part.refusal };
    return { reasoning: { reasoning_content: part.text }, text: part.text };
  });
  return pieces.filter(piece => piece !== '');
}
