import { Arg, Ctx, Directive, Mutation, Query, Resolver, Root, Subscription } from 'type-graphql';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { limits } from '../../../../schema/limits.ts';
import { MessagesRequest, MessageTokensRequest } from '../../../../schema/requests/messages.ts';
import { estimatedTokens } from '../../../../schema/requests/token-estimate.ts';
import { endOf } from '../../../answer-end.ts';
import type { ChargedAnswer, ChargedStream } from '../../../charge-port.ts';
import { type Arguments, readRequest } from '../../../graph-type.ts';
import { InputReadBy } from '../../../unread-input.ts';
import { brokenStream } from '../broken-stream.ts';
import type { InferenceContext } from '../context.ts';
import { announceStream, receiptOf, svcOf } from '../svc.ts';
import { blocksUsage, type ShownThinking, stopDetailsOf } from './content.ts';
import { BlockEvents, type MessageEvent } from './events.ts';
import { type KeptMessage, messagePaid, messageStream, shownThinking } from './message.paid.ts';
import {
  MessageInput,
  MessageStreamEvent,
  MessageTokens,
  MessageTokensInput,
  ModelMessage,
  messageFields,
} from './message.type.ts';

/* Graph fields for messages: a whole answer, an answer in events while it streams, and the estimated number of tokens of a request. */

@Resolver(() => ModelMessage)
export class MessageResolver {
  @Directive(`@paid(price: "${limits.call_price_atomic}")`)
  @InputReadBy(MessagesRequest)
  @Mutation(() => ModelMessage, { description: 'Creates one message. Charged only if the hub has returned an answer.' })
  async createMessage(
    @Arg('input', () => MessageInput, { description: 'Messages, model and options, as in the Messages API.' })
    input: Arguments,
    @Ctx() context: InferenceContext,
  ): Promise<ModelMessage> {
    const request = readRequest(MessagesRequest, input, context);
    const charged = await context.charge(messagePaid(context.hubs), request, context);
    const { receipt, svc } = receiptOf(charged, context);
    return { ...messageFields(charged.answer, svc), receipt };
  }

  @Query(() => MessageTokens, {
    description: 'Estimates the number of tokens of a request, without asking a model. Free and public.',
  })
  messageTokens(
    @Arg('input', () => MessageTokensInput, { description: 'The request whose tokens are estimated.' })
    input: Arguments,
    @Ctx() context: InferenceContext,
  ): MessageTokens {
    const request = readRequest(MessageTokensRequest, input, context);
    return { inputTokens: estimatedTokens(request), estimate: true };
  }
}

@Resolver(() => MessageStreamEvent)
export class MessageStreamResolver {
  @Directive(`@paid(price: "${limits.call_price_atomic}")`)
  @InputReadBy(MessagesRequest)
  @Subscription(() => MessageStreamEvent, {
    description:
      'Streams one message. Charged once the hub has begun to answer, and recorded even if the client disconnects.',
    subscribe: ({ args, context }) => begin(args.input, context as InferenceContext),
  })
  messageStream(
    @Arg('input', () => MessageInput, { description: 'Messages, model and options, as in the Messages API.' })
    _input: Arguments,
    @Root() event: MessageStreamItem,
    @Ctx() _context: InferenceContext,
  ): MessageStreamEvent {
    if (event instanceof Error) throw event;
    return { type: 'svc' in event ? 'svc' : event.type, event };
  }
}

async function begin(input: Arguments, context: InferenceContext): Promise<AsyncIterable<MessageStreamItem>> {
  // The field itself requests a stream, so `stream` in the input is overwritten.
  const request = readRequest(MessagesRequest, { ...input, stream: true }, context);
  const charged = await context.chargeStream(messageStream(context.hubs), request, context);
  announceStream(charged, context);
  return eventsOf(charged, context, shownThinking(request));
}

/**
 * An event of the stream. If the answer broke off or cannot be recorded, the last event is the error, because the graph hides an error that
 * its source throws.
 */
export type MessageStreamItem = MessageEvent | Error;

/**
 * Yields a paid stream as events of the Messages API. The receipt is in a `ping` event before the last event, because strict clients accept
 * `ping` and ignore its extra members. If the answer broke off, an error replaces the end.
 */
async function* eventsOf(
  charged: ChargedStream<KeptMessage>,
  context: InferenceContext,
  thinking: ShownThinking,
): AsyncGenerator<MessageStreamItem> {
  const blocks = new BlockEvents(thinking);
  yield { type: 'message_start', message: begunOf(charged.begun) };
  for await (const piece of charged.pieces) yield* blocks.of(piece);
  let recorded: ChargedAnswer<KeptMessage>;
  try {
    recorded = await charged.recorded;
  } catch (error) {
    yield error instanceof Error ? error : new Error('the stream was not recorded', { cause: error });
    return;
  }
  const { stop_reason, stop_sequence, usage } = recorded.answer;
  const end = endOf(recorded.answer);
  const { svc } = svcOf(recorded, context);
  if (end.kind === 'broke_off') {
    yield* blocks.brokeOff();
    yield { type: 'ping', svc };
    yield brokenStream(recorded, end, context);
    return;
  }
  yield* blocks.end();
  const delta = { stop_reason, stop_sequence, stop_details: stopDetailsOf(stop_reason) };
  yield { type: 'message_delta', delta, usage: blocksUsage(usage) };
  yield { type: 'ping', svc };
  yield { type: 'message_stop' };
}

/** Message at the beginning of a stream. Its token counts are 0, because they are known only at the end. */
function begunOf({ id, model, usage }: KeptMessage): JsonObject {
  const head = { id, type: 'message', role: 'assistant', model, content: [] };
  return { ...head, stop_reason: null, stop_sequence: null, stop_details: null, usage: blocksUsage(usage) };
}
