import { z } from 'zod';
import { documents } from './documents.ts';
import { word } from './noun.ts';
import type { WordOf, Words } from './words.ts';

/* What is shown of the sequence of a book: whether its positions have gaps, and how corrections of inflows follow each other. */

export const supersessionStatuses = {
  graph: 'SupersessionStatus',
  description: 'How the corrections of rows follow each other.',
  meanings: {
    none: 'Nothing was corrected.',
    linear: 'Each row that was corrected has one successor.',
    forked: 'Two or more corrections name the same row. All are kept, and none is preferred.',
  },
} as const satisfies Words;
export type SupersessionStatus = WordOf<typeof supersessionStatuses>;

/** How corrections replace rows, in the whole book or in the chain of one row. */
export const SupersessionNoun = z.object({
  status: word(supersessionStatuses).describe(
    '`none`: nothing was corrected. `linear`: each corrected row has one successor. `forked`: two or more corrections name the same row; all are kept, and none is preferred.',
  ),
  authoritative: z
    .string()
    .nullable()
    .describe(
      'Task id of the newest correction, which replaces all rows before it in its chain. Null if nothing was corrected, if there is a fork, or if the answer covers more than one chain of corrections.',
    ),
  merged_by: z
    .string()
    .nullable()
    .describe(
      'Task id of the correction that merges all branches of the fork. Null if there is no fork, if some branches are not merged, or if the answer covers more than one chain of corrections.',
    ),
  chains: z
    .int()
    .describe('Number of rows that were corrected, such as inflows, not counting corrections of corrections.'),
  corrections: z.int().describe('Number of corrections.'),
  forks: z.int().describe('Number of rows that more than one correction corrects.'),
  task_id: z
    .string()
    .nullable()
    .describe('Task id of the row whose chain is shown. Null if the answer covers the whole book.'),
});

export const BookSequenceNoun = z.object({
  schema: z.literal(documents.book_seq_report).describe(`Always \`${documents.book_seq_report}\`.`),
  agent_id: z.int().describe('Id of the agent of the book.'),
  seq: z.int().describe('The seq of the last row. 0 if the book has no rows.'),
  count: z.int().describe('Number of rows of the book.'),
  gapless: z
    .boolean()
    .describe('True if the seqs of the rows are exactly 1 to `seq`. This does not say which row of a fork is right.'),
  supersession: SupersessionNoun.describe(
    'Whether corrections form chains or forks, and their numbers: in the whole book or, if the request names a row, in its chain.',
  ),
});
