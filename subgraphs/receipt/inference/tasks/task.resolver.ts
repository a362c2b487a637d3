import { Arg, Ctx, Directive, Mutation, Resolver } from 'type-graphql';
import { AcceptedTaskNoun, TaskForecastNoun, TaskQuoteNoun } from '../../../../schema/inference/task-answer.ts';
import { limits } from '../../../../schema/limits.ts';
import { verifyUrl } from '../../../../schema/links.ts';
import { TaskPayment, TaskQuoteRequest, TaskRequest } from '../../../../schema/requests/tasks.ts';
import { type Arguments, inputType, objectType, readRequest, shownOf } from '../../../graph-type.ts';
import type { InferenceContext } from '../context.ts';
import { receiptOf } from '../svc.ts';
import { paidAnswerType } from '../work.type.ts';
import { forecastOf, quotePaid, taskPaid } from './task.paid.ts';

inputType('TaskPaymentInput', 'By which rail a task is labelled.', TaskPayment);
const TaskRequestInput = inputType(
  'TaskRequestInput',
  'A task to be accepted. The limits are those of the REST endpoint.',
  TaskRequest,
);
const TaskQuoteInput = inputType(
  'TaskQuoteInput',
  'A task to be forecast, of which nothing has to be known yet. The limits are those of the REST endpoint.',
  TaskQuoteRequest,
);

const AcceptedTask = paidAnswerType('AcceptedTask', 'A task that was accepted, with its receipt.', AcceptedTaskNoun);
type AcceptedTask = InstanceType<typeof AcceptedTask>;
objectType(
  'TaskForecast',
  'What a task would come to; the receipt commits to the canonical JSON of it, as REST spells it.',
  TaskForecastNoun,
);
const TaskQuote = paidAnswerType('TaskQuote', 'A forecast, no invoice.', TaskQuoteNoun);
type TaskQuote = InstanceType<typeof TaskQuote>;

const PAID = `@paid(price: "${limits.call_price_atomic}")`;

@Resolver()
export class TaskResolver {
  @Directive(PAID)
  @Mutation(() => AcceptedTask, { description: 'Takes on a task; the answer is its acceptance and receipt.' })
  async requestTask(
    @Arg('input', () => TaskRequestInput, { description: 'The task.' }) input: Arguments,
    @Ctx() context: InferenceContext,
  ): Promise<AcceptedTask> {
    const charged = await context.charge(taskPaid(context.hubs), readRequest(TaskRequest, input, context), context);
    const { receipt, svc } = receiptOf(charged, context);
    const { task_id, answer } = charged;
    const { fee, ...amounts } = answer;
    const task = shownOf(AcceptedTaskNoun, {
      ...amounts,
      ...fee,
      task_id,
      status: 'accepted',
      payment_ref: receipt.paymentRef,
      settled_amount: receipt.paymentRef === null ? null : amounts.gross_amount,
      verify_url: verifyUrl(context.base_url, task_id),
      svc,
    });
    return { ...task, receipt };
  }

  @Directive(PAID)
  @Mutation(() => TaskQuote, { description: 'What a task would come to now; sold like any call, and no invoice.' })
  async quoteTask(
    @Arg('input', () => TaskQuoteInput, { description: 'The task.' }) input: Arguments,
    @Ctx() context: InferenceContext,
  ): Promise<TaskQuote> {
    const request = readRequest(TaskQuoteRequest, input, context);
    const charged = await context.charge(quotePaid(context.hubs), request, context);
    const { receipt, svc } = receiptOf(charged, context);
    const { task_id, answer } = charged;
    const quote = shownOf(TaskQuoteNoun, {
      task_id,
      status: 'forecast',
      invoice: false,
      forecast: forecastOf(answer),
      verify_url: verifyUrl(context.base_url, task_id),
      svc,
    });
    return { ...quote, receipt };
  }
}
