import { Arg, Ctx, Directive, Mutation, Resolver } from 'type-graphql';
import { limits } from '../../../../schema/limits.ts';
import { opaqueFields, toSnakeKeys } from '../../../../schema/requests/case.ts';
import { parseRequest } from '../../../../schema/requests/parse.ts';
import { ResponseCall } from '../../../../schema/requests/responses.ts';
import { receiptOf } from '../completions/svc.ts';
import type { InferenceContext } from '../context.ts';
import { responsePaid } from './response.paid.ts';
import { ModelResponse, ResponseInput, responseOf } from './response.type.ts';

@Resolver(() => ModelResponse)
export class ResponseResolver {
  @Directive(`@paid(price: "${limits.call_price_atomic}")`)
  @Mutation(() => ModelResponse, { description: 'One answer to a text or to messages; nothing of it is remembered.' })
  async createResponse(
    @Arg('input', () => ResponseInput) input: ResponseInput,
    @Ctx() context: InferenceContext,
  ): Promise<ModelResponse> {
    const request = parseRequest(ResponseCall, toSnakeKeys(input, opaqueFields));
    const charged = await context.charge(responsePaid(context.hubs), request, context);
    return { ...responseOf(charged.answer), ...receiptOf(charged, context) };
  }
}
