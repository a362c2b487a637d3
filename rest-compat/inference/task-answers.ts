import { z } from 'zod';
import { Atomic, JsonMembers, nameComponents } from '../answer-shapes.ts';
import { SvcAnswer } from '../receipt/signed-receipt.ts';

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
