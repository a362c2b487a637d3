import { z } from 'zod';

/** A receipt, as subgraphs name it that know its key and nothing else of it. */
export const ReceiptKeyNoun = z.object({ task_id: z.string().describe('Task id of the call that the receipt is of.') });
