import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { EXAMPLE_ADDRESS } from '../../schema/eip55.ts';
import { TaskQuoteRequest, TaskRequest } from '../../schema/requests/tasks.ts';
import { Atomic, JsonMembers, nameComponents } from '../answer-shapes.ts';
import { documentDoor } from '../door.ts';
import { SvcAnswer } from '../receipt/signed-receipt.ts';
import { inputOf, paidWork } from './doors.ts';

const legacy = 'Of the legacy rail alone; absent on USDC.';

const gross = 'Atomic USDC: what the payee receives.';

const amounts = {
  payment_rail: z.enum(['usdc', 'tfuel']),
  gross_amount: Atomic.describe(gross),
  accounting: JsonMembers.describe(
    'Internal accounting inside the settled amount; no deduction on the chain. `route_margin` is null if nothing was paid.',
  ),
  fee_amount: Atomic.optional().describe(legacy),
  net_amount: Atomic.optional().describe(legacy),
  fee_bps: z.int().optional().describe(legacy),
} as const;

const receipt = {
  verify_url: z.string().describe('Public receipt page.'),
  svc: SvcAnswer.describe('The signed receipt.'),
} as const;

export const TaskAcceptedAnswer = z.object({
  task_id: z.string(),
  status: z.literal('accepted'),
  payment_rail: amounts.payment_rail,
  payment_ref: z.string().nullable().describe('`network:txHash`; null while it is unpaid.'),
  verify_url: receipt.verify_url,
  gross_amount: Atomic.optional().describe(
    `${gross} Absent if an API key was used in place of a payment: nothing was paid.`,
  ),
  settled_amount: Atomic.nullable().describe(
    'gross_amount once there is a payment_ref. Null before that, and if nothing was paid.',
  ),
  accounting: amounts.accounting,
  fee_amount: amounts.fee_amount,
  net_amount: amounts.net_amount,
  fee_bps: amounts.fee_bps,
  svc: receipt.svc,
});

export const TaskQuoteAnswer = z.object({
  task_id: z.string().describe('Of the forecast itself.'),
  status: z.literal('forecast'),
  invoice: z.literal(false).describe('Nobody owes anything by it.'),
  forecast: z
    .object({
      model: z.string().describe('The model that would answer now.'),
      hub: z.string().describe('The hub that would answer now.'),
      ...amounts,
    })
    .describe('The receipt commits to the SHA-256 of its canonical JSON.'),
  ...receipt,
});

nameComponents({ TaskAcceptance: TaskAcceptedAnswer, TaskForecast: TaskQuoteAnswer });

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
