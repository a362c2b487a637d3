import { z } from 'zod';
import { parseAtomic } from '../amount.ts';
import { limits } from '../limits.ts';
import { PossessionMembers } from './possession.ts';

/* The body of POST /v1/agents/{agent_id}/book, and how many rows a page of it has. */

/** How many rows of a book: a larger number is clamped, not refused. */
export const PageLimit = z
  .int()
  .min(1)
  .describe(`Rows; default ${limits.book_page_rows_default}, more than ${limits.book_page_rows_max} is clamped.`);

export function pageRows(limit: number | null | undefined): number {
  return Math.min(limit ?? limits.book_page_rows_default, limits.book_page_rows_max);
}

/** Budget Y. A string of digits sets it, null clears it (unlimited); where it is left out, the book is only read. */
const Budget = z
  .string()
  .refine(text => parseAtomic(text) !== null, { error: 'is not a string of digits (atomic USDC)' })
  .nullable();

/** Body of POST /v1/agents/{agent_id}/book; possession in it was looked at before. */
export const BookRequest = PossessionMembers.extend({
  limit: PageLimit.optional(),
  budget: Budget.optional().describe('Atomic USDC; null clears, absent reads only.'),
});
export type BookRequest = z.output<typeof BookRequest>;
