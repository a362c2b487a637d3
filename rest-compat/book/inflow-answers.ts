import { z } from 'zod';
import { BookSequenceNoun } from '../../schema/book-sequence.ts';
import { nameComponents } from '../answer-shapes.ts';
import { Row } from './row.ts';

/* What the doors of inflows answer, as it looks on the wire. */

export const CorrectedAnswer = z.object({
  row: Row.describe('The inflow itself, with all of its corrections.'),
  correction: Row.describe('The row of this correction.'),
  idempotent_replay: z
    .boolean()
    .describe(
      'True if the same correction of the same row had already been recorded. The existing row is returned and no row is added.',
    ),
});

nameComponents({ CorrectedInflow: CorrectedAnswer, BookSequence: BookSequenceNoun });
