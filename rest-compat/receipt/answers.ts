import { z } from 'zod';
import { proofOutcomes } from '../../schema/receipt-payload.ts';

/** A document whose members its own schema identifier describes. */
export const JsonMembers = z.record(z.string(), z.unknown());

export const TaskStatus = z.object({
  task_id: z.string(),
  status: z.string(),
  proof_outcome: z
    .enum(proofOutcomes)
    .describe('`none` where its book refused it or a key stood in for the payment: nothing was charged.'),
  payment_ref: z.string().nullable(),
  verify_url: z.string().describe('Of its receipt, or of the signed refusal.'),
});

export const KeySet = z.object({ keys: z.array(JsonMembers) });
