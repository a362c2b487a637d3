import { Arg, Ctx, Directive, Resolver, Root, Subscription } from 'type-graphql';
import { limits } from '../../../../schema/limits.ts';
import { opaqueFields, toSnakeKeys } from '../../../../schema/requests/case.ts';
import { ChatRequest } from '../../../../schema/requests/chat-completion.ts';
import { parseRequest } from '../../../../schema/requests/parse.ts';
import type { InferenceContext } from '../context.ts';
import { ChatCompletionChunk } from './chunk.type.ts';
import { type ChunkEvent, chunksOf } from './chunks.ts';
import { ChatCompletionInput } from './completion.input.ts';
import { completionStream } from './completion.stream.ts';
import { announceStream } from './svc.ts';

@Resolver(() => ChatCompletionChunk)
export class CompletionStreamResolver {
  @Directive(`@paid(price: "${limits.call_price_atomic}")`)
  @Subscription(() => ChatCompletionChunk, {
    description: 'One chat completion while it is spoken; charged once the hub has begun, recorded whoever listens.',
    subscribe: ({ args, context }) => begin(args.input, context as InferenceContext),
  })
  chatCompletionStream(
    @Arg('input', () => ChatCompletionInput) _input: ChatCompletionInput,
    @Root() event: ChunkEvent,
    @Ctx() _context: InferenceContext,
  ): ChatCompletionChunk {
    if (event instanceof Error) throw event;
    return event;
  }
}

async function begin(input: ChatCompletionInput, context: InferenceContext): Promise<AsyncIterable<ChunkEvent>> {
  // The field itself says that it is to be streamed, whatever the input says.
  const request = parseRequest(ChatRequest, { ...(toSnakeKeys(input, opaqueFields) as object), stream: true });
  const charged = await context.chargeStream(completionStream(context.hubs), request, context);
  announceStream(charged, context);
  return chunksOf(charged, context, request.stream_options?.include_usage ?? false);
}
