import { z } from 'zod';
import { AtomicMember, JsonMember } from '../noun.ts';
import { svcMember } from './paid-answer.ts';

/* An accepted task, and the forecast of a task, as they are shown. */

export const paymentRails = ['usdc', 'tfuel'] as const;
export type PaymentRail = (typeof paymentRails)[number];

const LEGACY = 'Absent by REST, and null on the graph, unless the payment rail is `tfuel` and there is a gross amount.';

const payment_rail = z
  .enum(paymentRails)
  .describe('Rail by which the task is labelled: `usdc` or `tfuel`. Payment is in USDC either way.');
const accountingMembers = {
  accounting: JsonMember.describe(
    'Internal accounting of the gross amount; nothing is deducted on the chain. `route_margin` is null without a gross amount.',
  ),
  fee_amount: AtomicMember.optional().describe(
    `Fee for the label \`tfuel\`, in atomic USDC. Always 0: nothing is deducted from the payment. ${LEGACY}`,
  ),
  net_amount: AtomicMember.optional().describe(`Gross amount minus the fee of 0, in atomic USDC. ${LEGACY}`),
  fee_bps: z
    .int()
    .optional()
    .describe(`Fee for the label \`tfuel\`, in basis points, which are hundredths of a percent. Always 0. ${LEGACY}`),
} as const;
const verify_url = z.string().describe('URL of the public page of the receipt.');

export const AcceptedTaskNoun = z.object({
  task_id: z.string().describe('Id of the task, by which its status and its receipt are found.'),
  status: z.literal('accepted').describe('Always `accepted`.'),
  payment_rail,
  payment_ref: z
    .string()
    .nullable()
    .describe('`network:transaction` of the payment. Null if an API key was used in place of a payment.'),
  verify_url,
  gross_amount: AtomicMember.optional().describe(
    'Amount that the payee receives, in atomic USDC. Absent by REST, and null on the graph, if an API key was used in place of a payment: nothing was paid.',
  ),
  settled_amount: AtomicMember.nullable().describe(
    'The gross amount, in atomic USDC. Null if an API key was used in place of a payment.',
  ),
  ...accountingMembers,
  ...svcMember,
});

export const TaskForecastNoun = z.object({
  model: z.string().describe('Model that would answer if the task were sent now.'),
  hub: z.string().describe('Hub that would answer if the task were sent now.'),
  payment_rail,
  gross_amount: AtomicMember.describe(
    'Amount that the payee would receive, in atomic USDC. A forecast always contains it.',
  ).optional(),
  ...accountingMembers,
});

export const TaskQuoteNoun = z.object({
  task_id: z.string().describe('Task id of the forecast and of its receipt.'),
  status: z.literal('forecast').describe('Always `forecast`.'),
  invoice: z.literal(false).describe('Always false: a forecast obliges nobody to pay.'),
  forecast: TaskForecastNoun.describe(
    'Forecast of the model, hub and cost of the task. The receipt commits to the SHA-256 of the canonical JSON of the forecast, as REST spells it.',
  ),
  verify_url,
  ...svcMember,
});
