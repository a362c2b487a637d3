import { Arg, Ctx, Directive, Mutation, Resolver } from 'type-graphql';
import { AcceptedTaskNoun, TaskForecastNoun, TaskQuoteNoun } from '../../../../schema/inference/task-answer.ts';
import { limits } from '../../../../schema/limits.ts';
import { verifyUrl } from '../../../../schema/links.ts';
import { TaskPayment, TaskQuoteRequest, TaskRequest } from '../../../../schema/requests/tasks.ts';
import { type Arguments, inputType, objectType, readRequest, shownOf } from '../../../graph-type.ts';
import type { InferenceContext } from '../context.ts';
import { receiptOf } from '../svc.ts';
import { paidAnswerType } from '../work.type.ts';
import { forecastOf, quotePaid, shownTask, taskPaid } from './task.paid.ts';

inputType(
  'TaskPaymentInput',
  'Payment rail that a task is labelled with. It changes only what the response says.',
  TaskPayment,
);
const TaskRequestInput = inputType(
  'TaskRequestInput',
  'Task to accept. The limits are those of POST /task-request.',
  TaskRequest,
);
const TaskQuoteInput = inputType(
  'TaskQuoteInput',
  'Task to forecast. All members are optional. The limits are those of POST /task-quote.',
  TaskQuoteRequest,
);

const AcceptedTask = paidAnswerType('AcceptedTask', 'A task that was accepted, with its receipt.', AcceptedTaskNoun);
type AcceptedTask = InstanceType<typeof AcceptedTask>;
objectType(
  'TaskForecast',
  'Forecast of the model, hub and cost of a task. The receipt commits to the canonical JSON of the forecast, as REST spells it.',
  TaskForecastNoun,
);
const TaskQuote = paidAnswerType(
  'TaskQuote',
  'A paid forecast of a task, with its receipt. It is no invoice.',
  TaskQuoteNoun,
);
type TaskQuote = InstanceType<typeof TaskQuote>;

const PAID = `@paid(price: "${limits.call_price_atomic}")`;

@Resolver()
export class TaskResolver {
  @Directive(PAID)
  @Mutation(() => AcceptedTask, {
    description: 'Accepts a task, without asking a model, and returns the acceptance with a signed receipt.',
  })
  async requestTask(
    @Arg('input', () => TaskRequestInput, { description: 'Owner, model, network and amount of the task.' })
    input: Arguments,
    @Ctx() context: InferenceContext,
  ): Promise<AcceptedTask> {
    const charged = await context.charge(taskPaid(context.hubs), readRequest(TaskRequest, input, context), context);
    const { receipt, svc } = receiptOf(charged, context);
    const { task_id, answer } = charged;
    const task = shownOf(AcceptedTaskNoun, {
      ...shownTask(answer),
      task_id,
      status: 'accepted',
      payment_ref: receipt.paymentRef,
      settled_amount: receipt.paymentRef === null ? null : answer.gross_amount,
      verify_url: verifyUrl(context.base_url, task_id),
      svc,
    });
    return { ...task, receipt };
  }

  @Directive(PAID)
  @Mutation(() => TaskQuote, {
    description:
      'Forecasts the model, hub and cost that a task would have now. The forecast is paid like any call and is no invoice.',
  })
  async quoteTask(
    @Arg('input', () => TaskQuoteInput, {
      description: 'The task to forecast: its model, network and owner, each optional.',
    })
    input: Arguments,
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
