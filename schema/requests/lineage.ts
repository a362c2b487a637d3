import { z } from 'zod';
import { limits } from '../limits.ts';
import { PageLimit, Seq } from './book.ts';
import { BookPath } from './book-path.ts';

/* What is asked of /v1/agents/{agent_id}/book/lineage/{task_id}. */

/** Of which row, in a path. */
export const LineagePath = BookPath.extend({
  task_id: z.string().min(1).describe('Task id of a row of the book; 403 where the book has no such row.'),
});

/** Which of its descendants. */
export const LineagePage = z.strictObject({
  limit: PageLimit.describe(
    `Number of descendants. Default: ${limits.book_page_rows_default}. More than ${limits.book_page_rows_max} is clamped.`,
  ).optional(),
  after: Seq.optional().describe('Returns only descendants after the row with this seq: `next` of the previous page.'),
});
export type LineagePage = z.output<typeof LineagePage>;
