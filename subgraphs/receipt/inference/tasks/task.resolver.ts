import { Arg, Ctx, Directive, Mutation, Resolver } from 'type-graphql';
import { limits } from '../../../../schema/limits.ts';
import { verifyUrl } from '../../../../schema/links.ts';
import { requestOf } from '../../../../schema/requests/parse.ts';
import { TaskQuoteRequest, TaskRequest } from '../../../../schema/requests/tasks.ts';
import type { InferenceContext } from '../context.ts';
import { receiptOf } from '../svc.ts';
import { quotePaid, taskPaid } from './task.paid.ts';
import { AcceptedTask, amountsOf, TaskQuote, TaskQuoteInput, TaskRequestInput } from './task.type.ts';

const PAID = `@paid(price: "${limits.call_price_atomic}")`;

@Resolver()
export class TaskResolver {
  @Directive(PAID)
  @Mutation(() => AcceptedTask, { description: 'Takes on a task; the answer is its acceptance and receipt.' })
  async requestTask(
    @Arg('input', () => TaskRequestInput, { description: 'The task.' }) input: TaskRequestInput,
    @Ctx() context: InferenceContext,
  ): Promise<AcceptedTask> {
    const request = requestOf(TaskRequest, input, context.valid_body);
    const charged = await context.charge(taskPaid(context.hubs), request, context);
    const { receipt, svc } = receiptOf(charged, context);
    const { paymentRef } = receipt;
    return {
      taskId: charged.task_id,
      status: 'accepted',
      paymentRef,
      settledAmount: paymentRef === null ? null : charged.answer.gross_amount,
      verifyUrl: verifyUrl(context.base_url, charged.task_id),
      ...amountsOf(charged.answer),
      svc,
      receipt,
    };
  }

  @Directive(PAID)
  @Mutation(() => TaskQuote, { description: 'What a task would come to now; sold like any call, and no invoice.' })
  async quoteTask(
    @Arg('input', () => TaskQuoteInput, { description: 'The task.' }) input: TaskQuoteInput,
    @Ctx() context: InferenceContext,
  ): Promise<TaskQuote> {
    const request = requestOf(TaskQuoteRequest, input, context.valid_body);
    const charged = await context.charge(quotePaid(context.hubs), request, context);
    const { model, hub, figures } = charged.answer;
    return {
      taskId: charged.task_id,
      status: 'forecast',
      invoice: false,
      forecast: { model, hub, ...amountsOf(figures) },
      verifyUrl: verifyUrl(context.base_url, charged.task_id),
      ...receiptOf(charged, context),
    };
  }
}
