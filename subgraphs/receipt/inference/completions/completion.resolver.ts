import { Arg, Ctx, Directive, Mutation, Resolver } from 'type-graphql';
import { limits } from '../../../../schema/limits.ts';
import { opaqueFields, toSnakeKeys } from '../../../../schema/requests/case.ts';
import { ChatRequest } from '../../../../schema/requests/chat-completion.ts';
import { parseRequest } from '../../../../schema/requests/parse.ts';
import type { InferenceContext } from '../context.ts';
import { ChatCompletionInput } from './completion.input.ts';
import { completionPaid } from './completion.paid.ts';
import { ChatCompletion, completionOf } from './completion.type.ts';
import { receiptOf } from './svc.ts';

@Resolver(() => ChatCompletion)
export class CompletionResolver {
  @Directive(`@paid(price: "${limits.call_price_atomic}")`)
  @Mutation(() => ChatCompletion, { description: 'One chat completion; charged only for an answer in hand.' })
  async createChatCompletion(
    @Arg('input', () => ChatCompletionInput) input: ChatCompletionInput,
    @Ctx() context: InferenceContext,
  ): Promise<ChatCompletion> {
    const request = parseRequest(ChatRequest, toSnakeKeys(input, opaqueFields));
    const charged = await context.charge(completionPaid(context.hubs), request, context);
    return { ...completionOf(charged.answer), ...receiptOf(charged, context) };
  }
}
