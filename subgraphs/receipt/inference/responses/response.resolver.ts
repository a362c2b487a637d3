import { Arg, Ctx, Directive, Mutation, Resolver, Root, Subscription } from 'type-graphql';
import type { Json, JsonObject } from '../../../../schema/canonical-json.ts';
import { limits } from '../../../../schema/limits.ts';
import { ResponseCall } from '../../../../schema/requests/responses.ts';
import type { ChargedAnswer, ChargedStream } from '../../../charge-port.ts';
import { type Arguments, readRequest } from '../../../graph-type.ts';
import { InputReadBy } from '../../../unread-input.ts';
import { brokenStream } from '../broken-stream.ts';
import type { InferenceContext } from '../context.ts';
import { announceStream, receiptOf, svcOf } from '../svc.ts';
import { eventNumbering, OutputEvents, type UnnumberedEvent } from './events.ts';
import { howResponseEnded, responseUsage, textOf } from './output.ts';
import { type KeptResponse, responseEndOf, responsePaid, responseStream } from './response.paid.ts';
import { ModelResponse, ResponseInput, ResponseStreamEvent, responseOf } from './response.type.ts';

@Resolver(() => ModelResponse)
export class ResponseResolver {
  @Directive(`@paid(price: "${limits.call_price_atomic}")`)
  @InputReadBy(ResponseCall)
  @Mutation(() => ModelResponse, {
    description:
      'Creates one response to a text or to messages. It is not stored for later requests. Charged only if the hub has returned an answer.',
  })
  async createResponse(
    @Arg('input', () => ResponseInput, { description: 'Input, model and options, as in the Responses API.' })
    input: Arguments,
    @Ctx() context: InferenceContext,
  ): Promise<ModelResponse> {
    const request = readRequest(ResponseCall, input, context);
    const charged = await context.charge(responsePaid(context.hubs), request, context);
    const { receipt, svc } = receiptOf(charged, context);
    return { ...responseOf(charged.answer, svc), receipt };
  }
}

@Resolver(() => ResponseStreamEvent)
export class ResponseStreamResolver {
  @Directive(`@paid(price: "${limits.call_price_atomic}")`)
  @InputReadBy(ResponseCall)
  @Subscription(() => ResponseStreamEvent, {
    description:
      'Streams one response. Charged once the hub has begun to answer, and recorded even if the client disconnects.',
    subscribe: ({ args, context }) => begin(args.input, context as InferenceContext),
  })
  responseStream(
    @Arg('input', () => ResponseInput, { description: 'Input, model and options, as in the Responses API.' })
    _input: Arguments,
    @Root() event: StreamedEvent,
    @Ctx() _context: InferenceContext,
  ): ResponseStreamEvent {
    if (event instanceof Error) throw event;
    return { type: event.type, sequenceNumber: Number(event.sequence_number), event };
  }
}

async function begin(input: Arguments, context: InferenceContext): Promise<AsyncIterable<StreamedEvent>> {
  // The field itself requests a stream, so `stream` in the input is overwritten.
  const request = readRequest(ResponseCall, { ...input, stream: true }, context);
  const charged = await context.chargeStream(responseStream(context.hubs), request, context);
  announceStream(charged, context);
  return eventsOf(charged, context);
}

/**
 * An event of the stream. If the answer broke off or cannot be recorded, the last event is the error, because the graph hides an error that
 * its source throws.
 */
export type StreamedEvent = UnnumberedEvent | Error;

/**
 * Yields a paid stream as events of the Responses API. The last event has the whole response and its receipt. If the answer broke off,
 * `response.failed` has both, and the error follows.
 */
async function* eventsOf(
  charged: ChargedStream<KeptResponse>,
  context: InferenceContext,
): AsyncGenerator<StreamedEvent> {
  const number = eventNumbering();
  const output = new OutputEvents(charged.task_id);
  const nothing = { ...charged.begun, output: [], fault: null, usage: null };
  const response = documentOf(nothing, 'in_progress');
  yield number({ type: 'response.created', response });
  yield number({ type: 'response.in_progress', response });
  for await (const piece of charged.pieces) for (const event of output.of(piece)) yield number(event);
  let recorded: ChargedAnswer<KeptResponse>;
  try {
    recorded = await charged.recorded;
  } catch (error) {
    yield error instanceof Error ? error : new Error('the stream was not recorded', { cause: error });
    return;
  }
  const { answer } = recorded;
  const end = responseEndOf(answer);
  // Incomplete items get no events that say that they are done, because a client would make a call with half of its arguments.
  if (end.kind === 'whole') for (const event of output.ends(answer.output)) yield number(event);
  const { status } = howResponseEnded(answer.output, answer.fault);
  const { svc } = svcOf(recorded, context);
  yield number({ type: `response.${status}`, response: { ...documentOf(answer, status), svc } });
  if (end.kind === 'broke_off') yield brokenStream(recorded, end, context);
}

/** The answer with the member names of REST, as POST /v1/responses returns it. */
function documentOf({ id, created_at, model, output, fault, usage }: KeptResponse, status: string): JsonObject {
  return {
    id,
    object: 'response',
    created_at,
    model,
    ...howResponseEnded(output, fault),
    status,
    output,
    output_text: textOf(output),
    usage: usage && responseUsage(usage),
  } satisfies Record<string, Json>;
}
