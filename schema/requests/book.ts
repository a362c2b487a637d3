import { z } from 'zod';
import { parseAtomic } from '../amount.ts';
import { evidences } from '../evidence.ts';
import { limits } from '../limits.ts';
import { FOUR_DIGITS, isOfFourDigits } from '../moment.ts';
import { wordList } from '../words.ts';
import { PossessionMembers } from './possession.ts';
import { storedText } from './text.ts';

/* What is asked of /v1/agents/{agent_id}/book: which rows of it, how many, and the body of its POST. */

/** As a refusal names them. */
export const PAGE_LIMIT_BOUNDS = `is a whole number from 1 to ${limits.book_page_rows_max}; a larger one is clamped`;

/** How many rows of a book: a larger number is clamped, not refused. */
export const PageLimit = z
  .int({ error: PAGE_LIMIT_BOUNDS })
  .min(1, { error: PAGE_LIMIT_BOUNDS })
  .describe(`Rows; default ${limits.book_page_rows_default}, more than ${limits.book_page_rows_max} is clamped.`);

export function pageRows(limit: number | null | undefined): number {
  return Math.min(limit ?? limits.book_page_rows_default, limits.book_page_rows_max);
}

/** A row's place in its book, as GraphQL's Int holds it; 0 is before the first. */
const SEQ_MAX = 2 ** 31 - 1;
const SEQ_BOUNDS = `is a row's seq: a whole number from 0 to ${SEQ_MAX}`;
export const Seq = z.int({ error: SEQ_BOUNDS }).min(0, { error: SEQ_BOUNDS }).max(SEQ_MAX, { error: SEQ_BOUNDS });

const MOMENT = 'is an RFC 3339 date-time with its offset, or a day such as 2026-01-31 (UTC)';

/** A moment; a bare day is its beginning in UTC. */
export const Moment = z
  .union(
    [
      // A text that is neither is refused in the words of the first alone.
      z.iso.datetime({ offset: true, error: MOMENT }),
      z.iso.date().transform(day => `${day}T00:00:00Z`),
    ],
    { error: MOMENT },
  )
  .transform(moment => new Date(moment))
  .refine(isOfFourDigits, { error: FOUR_DIGITS })
  .transform(moment => moment.toISOString())
  .meta({ scalar: 'DateTime' });

const Named = storedText.min(1).max(limits.row_name_chars_max);

const DelegationHash = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, { error: 'is not 32 bytes: 0x and 64 hex digits' })
  .transform(text => text.toLowerCase());

/** Which rows a page is of. Members that are not there narrow nothing. */
export const RowFilterMembers = {
  from: Moment.optional().describe('Rows collected at this moment or later: RFC 3339, or a day (UTC).'),
  to: Moment.optional().describe('Rows collected before this moment: RFC 3339, or a day (UTC).'),
  evidence: z.enum(wordList(evidences)).optional().describe('Rows that rest on this.'),
  intent_id: Named.optional().describe('Rows of this treasury intent.'),
  task_id: Named.optional().describe('The row of this task.'),
  delegation_hash: DelegationHash.optional().describe(
    'Only rows of calls that were made under the session with this delegation hash.',
  ),
  payment_ref: Named.optional().describe('Rows of this payment: several may share a transaction.'),
} as const;

/** Where a page begins and ends. */
export const RowCursorMembers = {
  before: Seq.optional().describe('Rows older than the one of this seq: the next page has the seq of the last entry.'),
  after: Seq.optional().describe(
    'Rows newer than the one of this seq, those next to it; with `before` the newest between the two.',
  ),
  seq: Seq.optional().describe('The row of this seq.'),
} as const;

/** Budget Y. A string of digits sets it, null clears it (unlimited); where it is left out, the book is only read. */
const Budget = z
  .string()
  .refine(text => parseAtomic(text) !== null, { error: 'is not a string of digits (atomic USDC)' })
  .nullable();

/** Body of POST /v1/agents/{agent_id}/book; possession in it was looked at before. */
export const BookRequest = PossessionMembers.extend({
  limit: PageLimit.optional(),
  budget: Budget.optional().describe('Atomic USDC; null clears, absent reads only.'),
}).strict();
export type BookRequest = z.output<typeof BookRequest>;
