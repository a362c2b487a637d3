import { z } from 'zod';
import { networkWords } from './network.ts';
import { word, wordText } from './noun.ts';
import { proofOutcomes } from './receipt-payload.ts';
import { taskStates } from './task-state.ts';
import type { Words } from './words.ts';

/* A payment and the task that it buys, as shown to the client that paid. */

export const settlementStates = {
  graph: 'SettlementState',
  description: 'Whether a payment was collected, may still be, or never will be.',
  meanings: {
    claimed: 'The call is in progress. The payment was not sent to the chain yet.',
    pending:
      'The payment may have been sent to the chain, and its outcome is not known yet; or it was settled and waits for the second of two payments.',
    settled: 'The payment was collected: it is charged.',
    failed: 'The payment can never be settled, or its transfer was not found by the cutoff.',
    released:
      'The payment was not collected and can still be used while it is valid: send the same payment again, not another one.',
  },
} as const satisfies Words;

/** Contains nothing of the request or answer, and nothing of any book. */
export const SettlementNoun = z.object({
  payment_id: z.string().describe('Id of the payment, as the request names it.'),
  state: word(settlementStates).describe(
    'State of the payment: `claimed` (not sent to the chain yet), `pending` (outcome not known yet, or waiting for the second of two payments), `settled`, `released` (can still be used) or `failed` (can never be settled, or its transfer was not found by the cutoff).',
  ),
  task_id: z.string().describe('Task id of the call that the payment is for.'),
  network: wordText(networkWords).describe('Network of the payment: `base` or `solana`.'),
  payment_ref: z.string().nullable().describe('`network:transaction` of the payment. Null until it is recorded.'),
  verify_url: z
    .string()
    .nullable()
    .describe(
      'URL of the public page of the receipt. Given before the receipt exists. Null if the payment was released or failed.',
    ),
  charged: z
    .boolean()
    .nullable()
    .describe(
      'Whether the payment was charged. Null while that is not known, and if the transfer was not found in time.',
    ),
  retry_after_seconds: z
    .int()
    .nullable()
    .describe('Seconds to wait before asking again. Null if the state will not change by itself.'),
});

export const TaskStatusNoun = z.object({
  task_id: z.string().describe('Id of the task.'),
  status: word(taskStates).describe(
    'State of the task: `completed` or `accepted` once it has a receipt, `working` or `settling` before; `released`, `canceled` or `refused` if it ended without one.',
  ),
  proof_outcome: word(proofOutcomes).describe(
    'What is known of the payment. `settled`: its transfer was seen. `pending`: not seen yet. `unverified`: not found in time. `none`: there is no payment to prove.',
  ),
  payment_ref: z
    .string()
    .nullable()
    .describe(
      '`network:transaction` of the payment. Null until the payment is recorded, and always if nothing was paid.',
    ),
  verify_url: z
    .string()
    .describe(
      'URL of the public page of the receipt or, if the book refused the task, of the signed refusal. The page exists as soon as the receipt or the refusal does.',
    ),
});
