import { z } from 'zod';

/** A receipt by its key, for subgraphs that know nothing else about it. */
export const ReceiptKeyNoun = z.object({
  task_id: z.string().describe('Task id of what the receipt is for, such as a call or a completion.'),
});
