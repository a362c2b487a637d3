import { Arg, Ctx, Directive, Resolver, Root, Subscription } from 'type-graphql';
import { limits } from '../../../../schema/limits.ts';
import { opaqueFields, toSnakeKeys } from '../../../../schema/requests/case.ts';
import { parseRequest } from '../../../../schema/requests/parse.ts';
import { ResponseCall } from '../../../../schema/requests/responses.ts';
import { announceStream } from '../completions/svc.ts';
import type { InferenceContext } from '../context.ts';
import { ResponseStreamEvent } from './event.type.ts';
import { responseStream } from './response.stream.ts';
import { ResponseInput } from './response.type.ts';
import { eventsOf, type StreamedEvent } from './stream-events.ts';

@Resolver(() => ResponseStreamEvent)
export class ResponseStreamResolver {
  @Directive(`@paid(price: "${limits.call_price_atomic}")`)
  @Subscription(() => ResponseStreamEvent, {
    description: 'One response while it is spoken; charged once the hub has begun, recorded whoever listens.',
    subscribe: ({ args, context }) => begin(args.input, context as InferenceContext),
  })
  responseStream(
    @Arg('input', () => ResponseInput) _input: ResponseInput,
    @Root() event: StreamedEvent,
    @Ctx() _context: InferenceContext,
  ): ResponseStreamEvent {
    if (event instanceof Error) throw event;
    return { type: event.type, sequenceNumber: Number(event.sequence_number), event };
  }
}

async function begin(input: ResponseInput, context: InferenceContext): Promise<AsyncIterable<StreamedEvent>> {
  // The field itself says that it is to be streamed, whatever the input says.
  const request = parseRequest(ResponseCall, { ...(toSnakeKeys(input, opaqueFields) as object), stream: true });
  const charged = await context.chargeStream(responseStream(context.hubs), request, context);
  announceStream(charged, context);
  return eventsOf(charged, context);
}
