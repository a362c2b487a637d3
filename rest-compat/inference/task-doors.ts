import { EXAMPLE_ADDRESS } from '../../schema/eip55.ts';
import { SIGNED_RECEIPT } from '../../schema/inference/paid-answer.ts';
import { AcceptedTaskNoun, TaskForecastNoun, TaskQuoteNoun } from '../../schema/inference/task-answer.ts';
import { TaskQuoteRequest, TaskRequest } from '../../schema/requests/tasks.ts';
import { nameComponents } from '../answer-shapes.ts';
import { documentDoor } from '../door.ts';
import { SvcAnswer } from '../receipt/signed-receipt.ts';
import { paidWork } from './doors.ts';

const svc = SvcAnswer.describe(SIGNED_RECEIPT);

export const TaskAcceptedAnswer = AcceptedTaskNoun.extend({ svc });

export const TaskQuoteAnswer = TaskQuoteNoun.extend({
  // A forecast is for a paid task, so its gross amount is never null.
  forecast: TaskForecastNoun.extend({ gross_amount: TaskForecastNoun.shape.gross_amount.unwrap() }).describe(
    TaskQuoteNoun.shape.forecast.description ?? '',
  ),
  svc,
});

nameComponents({ TaskAcceptance: TaskAcceptedAnswer, TaskForecast: TaskQuoteAnswer });

const taskWork = {
  ...paidWork,
  tags: ['tasks'],
  errors: ['unknown_model', 'payer_mismatch', 'policy_blocked', 'budget_exhausted', 'approval_ttl_expired'],
} as const;

export const taskDoors = [
  documentDoor({
    ...taskWork,
    name: 'request_task',
    tool: { name: 'submit_inference', daily: true },
    path: '/task-request',
    summary: 'Have a task accepted, without asking a model, with a signed spend receipt',
    example: { message_type: 'inference_request', chain_id: 'base', amount: '2000', sender: EXAMPLE_ADDRESS },
    field: 'requestTask',
    body: TaskRequest,
    nulls: { '': ['payment_ref', 'settled_amount'] },
    response: TaskAcceptedAnswer,
  }),
  documentDoor({
    ...taskWork,
    name: 'quote_task',
    tool: { daily: true },
    path: '/task-quote',
    summary: 'Estimate what a task would cost, without a commitment',
    example: { model_id: 'svc/auto' },
    field: 'quoteTask',
    body: TaskQuoteRequest,
    nulls: { forecast: [] },
    response: TaskQuoteAnswer,
  }),
] as const;
