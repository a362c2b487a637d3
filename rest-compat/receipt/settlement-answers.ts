import { z } from 'zod';

export const Settlement = z.object({
  payment_id: z.string(),
  state: z
    .enum(['claimed', 'pending', 'settled', 'failed', 'released'])
    .describe('`released` is still usable; `failed` can never be settled.'),
  task_id: z.string(),
  network: z.string(),
  payment_ref: z.string().nullable(),
  verify_url: z.string().nullable().describe('Of its receipt, also before that is there.'),
  charged: z.boolean().nullable().describe('Null while nobody knows.'),
  retry_after_seconds: z.int().nullable().describe('While it is open.'),
});
