import { canonicalHash } from '../../../../schema/digest.ts';
import type { ResponseCall } from '../../../../schema/requests/responses.ts';
import type { Piece } from '../../../piece.ts';
import type { Stream, Work } from '../../../sale.ts';
import { abilityFor, requireSight } from '../completions/image-input.ts';
import type { Hubs } from '../hubs/open.ts';
import type { Spoken } from '../hubs/speech.ts';
import { admitRoute, hubFailed, routeOf } from '../route.ts';
import { type Fault, faultOf, type OutputItem, outputOf } from './output.ts';
import { askedOf, type ResponseAnswer, responseTerms } from './response.paid.ts';

const BROKE_OFF: Fault = { code: 'server_error', message: 'The hub broke off in the midst of its answer.' };

/** One response, sold while it is spoken, as a streamed chat is: brought to its end in any case. */
export function responseStream(hubs: Hubs): Stream<ResponseCall, ResponseAnswer> {
  return {
    ...responseTerms,
    order: 'stream',
    field: 'Subscription.responseStream',
    async admit(request, _payer, context) {
      requireSight(hubs, { model: request.model, messages: request.input }, 'input');
      await admitRoute(hubs, request, abilityFor(request.input), context);
    },
    async open(request, task_id, context, until_ms) {
      const route = routeOf(hubs, request, abilityFor(request.input), context);
      const outcome = await hubs.stream(askedOf(request), { ...route, until_ms });
      if (outcome.kind === 'failed') throw hubFailed(outcome.attempts);
      const { hub, model, listening } = outcome;
      const created_at = Math.floor(context.clock.now_ms() / 1000);
      const head = { id: `resp_${task_id}`, created_at, model, hub };
      const begun: ResponseAnswer = { ...head, output: [], fault: null, usage: null };
      const { pieces, cancel } = listening;
      const spoken = () => workOf(begun, task_id, listening.spoken());
      return { route: { hub, model }, begun, pieces, cancel, spoken };
    },
    piecesOf: ({ output }) => output.flatMap((item, index) => piecesOf(item, callsBefore(output, index))),
  };
}

/** What was said is delivered as far as it came; the receipt commits to it only where it came to its end. */
function workOf(begun: ResponseAnswer, task_id: string, spoken: Spoken): Work<ResponseAnswer> {
  const { message, began, finish_reason, usage, broke_off } = spoken;
  const fault = broke_off === null ? faultOf(finish_reason, message) : BROKE_OFF;
  const status = fault || finish_reason === 'length' ? 'incomplete' : 'completed';
  const output = outputOf(message, { task_id, status, began });
  return {
    answer: { ...begun, output, fault, usage },
    route: { hub: begun.hub, model: begun.model },
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
