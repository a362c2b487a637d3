import { z } from 'zod';
import { limits } from '../limits.ts';

/* What is asked of receipts, tasks, refusals and proofs. */

const TaskId = z.string().max(64);

/** Which receipt, in a path. */
export const ReceiptPath = z.object({ task_id: TaskId.describe('Task id, as an answer names it.') });

/** Which task. */
export const TaskQuery = z.strictObject({ task_id: TaskId.describe('Id of the task, or of an answer to it.') });

/** What is to be proven of which task. */
export const ProofRequest = TaskQuery.extend({
  requested: z
    .boolean()
    .default(false)
    .describe(
      `True: the settlement is shown also if less than ${limits.settlement_proof_gate_atomic} atomic USDC was paid. Default: false.`,
    ),
});

/** Which refusal, in a path. */
export const RefusalPath = z.object({ refusal_id: TaskId.describe('Id of the refusal, as the 403 names it.') });
