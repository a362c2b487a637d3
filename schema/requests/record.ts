import { z } from 'zod';

/** What is shown of the record of an agent. */
export const RecordRequest = z.object({
  opt_in: z
    .boolean()
    .optional()
    .describe('True, with possession of the book: its off-board history too. Default: false.'),
});
