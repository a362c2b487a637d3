import { z } from 'zod';

/** A document whose members its own schema identifier describes. */
export const JsonMembers = z.record(z.string(), z.unknown());

export const TaskStatus = z.object({
  task_id: z.string(),
  status: z.string(),
  proof_outcome: z.string(),
  payment_ref: z.string().nullable(),
  verify_url: z.string(),
});

export const KeySet = z.object({ keys: z.array(JsonMembers) });
