import { Arg, Ctx, Directive, Mutation, Resolver, Root, Subscription } from 'type-graphql';
import { limits } from '../../../../schema/limits.ts';
import { ChatRequest } from '../../../../schema/requests/chat-completion.ts';
import type { ChargedAnswer, ChargedStream } from '../../../charge-port.ts';
import { type Arguments, readRequest } from '../../../graph-type.ts';
import type { Piece } from '../../../piece.ts';
import { InputReadBy } from '../../../unread-input.ts';
import { brokenStream } from '../broken-stream.ts';
import type { InferenceContext } from '../context.ts';
import { announceStream, receiptOf, svcOf } from '../svc.ts';
import { chatEndOf, completionPaid, completionStream, type KeptChat } from './completion.paid.ts';
import {
  type ChatChunkChoice,
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionInput,
  type ChatDelta,
  completionFields,
  reasoningFields,
  usageOf,
} from './completion.type.ts';

@Resolver(() => ChatCompletion)
export class CompletionResolver {
  @Directive(`@paid(price: "${limits.call_price_atomic}")`)
  @InputReadBy(ChatRequest)
  @Mutation(() => ChatCompletion, {
    description: 'Creates one chat completion. Charged only if the hub has returned an answer.',
  })
  async createChatCompletion(
    @Arg('input', () => ChatCompletionInput, { description: 'Messages, model and options of the chat.' })
    input: Arguments,
    @Ctx() context: InferenceContext,
  ): Promise<ChatCompletion> {
    const request = readRequest(ChatRequest, input, context);
    const charged = await context.charge(completionPaid(context.hubs), request, context);
    const { receipt, svc } = receiptOf(charged, context);
    return { ...completionFields(charged.answer, svc), receipt };
  }
}

@Resolver(() => ChatCompletionChunk)
export class CompletionStreamResolver {
  @Directive(`@paid(price: "${limits.call_price_atomic}")`)
  @InputReadBy(ChatRequest)
  @Subscription(() => ChatCompletionChunk, {
    description:
      'Streams one chat completion. Charged once the hub has begun to answer, and recorded even if the client disconnects.',
    subscribe: ({ args, context }) => begin(args.input, context as InferenceContext),
  })
  chatCompletionStream(
    @Arg('input', () => ChatCompletionInput, { description: 'Messages, model and options of the chat.' })
    _input: Arguments,
    @Root() event: ChunkEvent,
    @Ctx() _context: InferenceContext,
  ): ChatCompletionChunk {
    if (event instanceof Error) throw event;
    return event;
  }
}

async function begin(input: Arguments, context: InferenceContext): Promise<AsyncIterable<ChunkEvent>> {
  // The field itself requests a stream, so `stream` in the input is overwritten.
  const request = readRequest(ChatRequest, { ...input, stream: true }, context);
  const charged = await context.chargeStream(completionStream(context.hubs), request, context);
  announceStream(charged, context);
  return chunksOf(charged, context, request.stream_options?.include_usage ?? false);
}

/**
 * An event of the stream. If the answer broke off or cannot be recorded, the last event is the error, because the graph hides an error that
 * its source throws.
 */
export type ChunkEvent = ChatCompletionChunk | Error;

/**
 * Yields a paid stream as OpenAI's chunks: the role, text and tool calls, and the finish reason. The last chunk has usage and receipt. With
 * `usage_apart` these are in a further chunk without choices, as OpenAI sends it if usage was requested. If the answer broke off, the last
 * chunk has no choices either, and the error follows.
 */
async function* chunksOf(
  charged: ChargedStream<KeptChat>,
  context: InferenceContext,
  usage_apart: boolean,
): AsyncGenerator<ChunkEvent> {
  const chunk = chunkOf(charged.begun);
  yield chunk([choiceOf({ role: 'assistant', content: '' })]);
  for await (const piece of charged.pieces) yield chunk([choiceOf(deltaOf(piece))]);
  let recorded: ChargedAnswer<KeptChat>;
  try {
    recorded = await charged.recorded;
  } catch (error) {
    yield error instanceof Error ? error : new Error('the stream was not recorded', { cause: error });
    return;
  }
  const { choices, usage } = recorded.answer;
  const receipt = { usage: usageOf(usage), svc: svcOf(recorded, context).svc };
  const end = chatEndOf(recorded.answer);
  if (end.kind === 'broke_off') {
    yield { ...chunk([]), ...receipt };
    yield brokenStream(recorded, end, context);
    return;
  }
  const ends = choices.map(({ index, finish_reason }) => ({ ...choiceOf({}), index, finishReason: finish_reason }));
  if (usage_apart) yield chunk(ends);
  yield { ...chunk(usage_apart ? [] : ends), ...receipt };
}

function chunkOf({ id, created, model, hub }: KeptChat) {
  return (choices: ChatChunkChoice[]): ChatCompletionChunk => ({
    id,
    object: 'chat.completion.chunk',
    created,
    model,
    hub,
    choices,
    usage: null,
    svc: null,
  });
}

function deltaOf(piece: Piece): Partial<ChatDelta> {
  if (typeof piece === 'string') return { content: piece };
  if ('refusal' in piece) return piece;
  if ('reasoning' in piece) return reasoningFields(piece.reasoning);
  if ('text' in piece) return { content: piece.text };
  const { call: index, id, name, arguments: given } = piece;
  return { toolCalls: [{ index, id, type: id === null ? null : 'function', function: { name, arguments: given } }] };
}

const nothing: ChatDelta = { role: null, content: null, refusal: null, toolCalls: null, ...reasoningFields({}) };

function choiceOf(delta: Partial<ChatDelta>): ChatChunkChoice {
  return { index: 0, delta: { ...nothing, ...delta }, finishReason: null };
}
