import { isJsonObject, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { EXAMPLE_ADDRESS } from '../../schema/eip55.ts';
import { TaskQuoteRequest, TaskRequest } from '../../schema/requests/tasks.ts';
import { documentDoor } from '../door.ts';
import { inputOf, paidWork } from './doors.ts';
import { TaskAcceptedAnswer, TaskQuoteAnswer } from './task-answers.ts';

const taskWork = {
  ...paidWork,
  tags: ['tasks'],
  variables: inputOf,
  errors: ['unknown_model', 'payer_mismatch', 'policy_blocked', 'budget_exhausted', 'approval_ttl_expired'],
} as const;

export const taskDoors = [
  documentDoor({
    ...taskWork,
    name: 'request_task',
    tool: { name: 'submit_inference' },
    path: '/task-request',
    summary: 'Take on a task: its acceptance with a signed spend receipt',
    example: { message_type: 'inference_request', chain_id: 'base', amount: '2000', sender: EXAMPLE_ADDRESS },
    field: 'requestTask',
    body: TaskRequest,
    answer: withoutAbsent,
    response: TaskAcceptedAnswer,
  }),
  documentDoor({
    ...taskWork,
    name: 'quote_task',
    path: '/task-quote',
    summary: 'What a task would come to: a forecast, no invoice',
    example: { model_id: 'svc/auto' },
    field: 'quoteTask',
    body: TaskQuoteRequest,
    nulls: { forecast: [] },
    response: TaskQuoteAnswer,
  }),
] as const;

/** What only the legacy rail has, and what only a payment has. */
const ABSENT: readonly string[] = ['fee_amount', 'net_amount', 'fee_bps', 'gross_amount'];

/** Those are absent elsewhere; every other null is an answer. */
function withoutAbsent({ answer }: JsonObject): Json {
  if (!isJsonObject(answer)) return null;
  return Object.fromEntries(Object.entries(answer).filter(([name, value]) => value !== null || !ABSENT.includes(name)));
}
