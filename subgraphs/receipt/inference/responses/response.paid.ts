import { formerArgs } from '../../../../schema/requests/forwarded/known-members.ts';
import type { ResponseCall } from '../../../../schema/requests/responses.ts';
import { type AnswerEnd, type BrokenBy, endOf, type KeptEnd } from '../../../answer-end.ts';
import type { Piece } from '../../../piece.ts';
import type { Stream, WorkThenSettle } from '../../../sale.ts';
import { answerPaid, streamPaid } from '../answer.paid.ts';
import { demandOf, requireServed } from '../demand.ts';
import type { HubRequest, Usage } from '../hubs/chat.ts';
import type { Hubs } from '../hubs/open.ts';
import {
  faultOf,
  type HubReply,
  type OutputFault,
  type OutputItem,
  outputOf,
  replyOutcome,
  replyQuestion,
} from './output.ts';

/* Paid responses, whole and streamed: which chat is sent to hubs, and which part of the answer is stored and committed to. */

/** The answer as it is stored: plain JSON with the member names of the wire, so that a replay returns the same bytes. */
export type KeptResponse = {
  readonly id: string;
  /** Time of the answer in Unix seconds. */
  readonly created_at: number;
  readonly model: string;
  readonly hub: string;
  readonly output: readonly OutputItem[];
  readonly fault: OutputFault | null;
  readonly usage: Usage | null;
} & KeptEnd;

/** Terms of one response, whole or streamed. */
const responseTerms = {
  job_kind: 'completions',
  former_args: formerArgs,
  demand: (request: ResponseCall) => demandOf(request, request.input),
  served: (request: ResponseCall, hubs: Hubs) => requireServed(hubs, request, request.input, 'input'),
} as const;

/** Chat request to which a response's request is translated. */
function hubRequestOf({ input: messages, max_output_tokens: max_tokens, ...asked }: ResponseCall): HubRequest {
  return { ...asked, messages, max_tokens };
}

const idOf = (task_id: string) => `resp_${task_id}`;
const isReturnable = ({ include }: ResponseCall) => include !== undefined;

/** Sells one response at the fixed price. The hub answers first, and a call without an answer is not charged. */
export function responsePaid(hubs: Hubs): WorkThenSettle<ResponseCall, KeptResponse> {
  return answerPaid<ResponseCall, HubReply, KeptResponse>(hubs, {
    ...responseTerms,
    field: 'Mutation.createResponse',
    streamed_by: 'responseStream',
    modality: 'text',
    question: request => replyQuestion(hubRequestOf(request)),
    usage: ({ usage }) => usage,
    answer({ asked, value, by, task_id, at }) {
      const { output, fault } = replyOutcome(value, { task_id, returnable: isReturnable(asked) });
      const answer = { id: idOf(task_id), created_at: at, ...by, output, fault, usage: value.usage };
      return { answer, output, output_member: 'output' };
    },
  });
}

const faults: Readonly<Record<BrokenBy, OutputFault>> = {
  hub: { code: 'server_error', message: 'The hub ended its answer before it was complete.' },
  request: { code: 'server_error', message: 'The hub refused this request while it was answering.' },
  limit: { code: 'server_error', message: 'The answer reached a limit of this service before it was complete.' },
  stop: { code: 'server_error', message: 'This service was stopped before the answer was complete.' },
};

/**
 * Sells one response while it streams. It is charged when the hub has begun to answer, and is finished and recorded even if the client
 * disconnects.
 */
export function responseStream(hubs: Hubs): Stream<ResponseCall, KeptResponse> {
  return streamPaid<ResponseCall, KeptResponse>(hubs, {
    ...responseTerms,
    field: 'Subscription.responseStream',
    chat: hubRequestOf,
    beginAnswer: ({ by, task_id, at }) => ({
      id: idOf(task_id),
      created_at: at,
      ...by,
      output: [],
      fault: null,
      usage: null,
    }),
    answer({ asked, task_id, begun, reply }) {
      const { message, began, reasoning_text, finish_reason, usage, end } = reply;
      const fault = end.kind === 'whole' ? faultOf(finish_reason, message) : faults[end.by];
      const status = fault || finish_reason === 'length' ? 'incomplete' : 'completed';
      const shown = { task_id, returnable: isReturnable(asked), status, began, reasoning_text } as const;
      const output = outputOf(message, shown);
      return { answer: { ...begun, output, fault, usage }, output, output_member: 'output' };
    },
    piecesOf: ({ output }) => output.flatMap((item, index) => piecesOf(item, callsBefore(output, index))),
  });
}

/**
 * How a stored answer ended. In answers of former versions, which have no member for it, the fault `server_error` shows that they broke
 * off.
 */
export function responseEndOf(answer: KeptResponse): AnswerEnd {
  return endOf(answer, answer.fault?.code === 'server_error');
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
