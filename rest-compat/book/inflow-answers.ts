import { z } from 'zod';
import { documents } from '../../schema/documents.ts';
import { nameComponents } from '../answer-shapes.ts';
import { Row } from './row.ts';

/* What the doors of inflows and of the book's sequence answer, as it looks on the wire. */

export const CorrectedAnswer = z.object({
  row: Row.describe('The inflow itself, with all of its corrections.'),
  correction: Row.describe('The row of this correction.'),
  idempotent_replay: z
    .boolean()
    .describe(
      'True if the same correction of the same row had already been recorded. The existing row is returned and no row is added.',
    ),
});

export const SequenceAnswer = z.object({
  schema: z.literal(documents.book_seq_report),
  agent_id: z.int(),
  seq: z.int().describe('Where the last row stands; 0 where there is none.'),
  count: z.int(),
  gapless: z.boolean().describe('Positions are exactly 1 to `seq`. It elects no tip.'),
  supersession: z.object({
    status: z
      .enum(['none', 'linear', 'forked'])
      .describe('`forked`: two corrections name one row. Both are kept, and none is elected.'),
    authoritative: z
      .string()
      .nullable()
      .describe('task_id of the one successor that stands; null on a fork, and where several chains end apart.'),
    merged_by: z
      .string()
      .nullable()
      .describe(
        'Task id of the correction that merges all branches of the fork. Null if there is no fork, if some branches are not merged, or if the answer covers more than one chain of corrections.',
      ),
    chains: z.int().describe('Inflows that were corrected.'),
    corrections: z.int(),
    forks: z.int().describe('Rows that more than one correction names.'),
    task_id: z.string().nullable().describe('Of whose chain this is; null of the whole book.'),
  }),
});

nameComponents({ CorrectedInflow: CorrectedAnswer, BookSequence: SequenceAnswer });
