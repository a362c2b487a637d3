import { z } from 'zod';
import { parseAtomic } from '../amount.ts';
import { totalsGroups } from '../book/book-page.ts';
import { evidences } from '../evidence.ts';
import { INT_MAX, limits } from '../limits.ts';
import { FOUR_DIGITS, isOfFourDigits } from '../moment.ts';
import { onGraph, word } from '../noun.ts';
import { BookPath } from './book-path.ts';
import { pageLimit } from './page-limit.ts';
import { PossessionMembers } from './possession.ts';
import { storedText } from './text.ts';

/* Requests of /v1/agents/{agent_id}/book: filters and pages of its rows, and the body of its POST. */

/** Number of items on a page of a list of a book. */
export const bookPageSize = {
  default: limits.book_page_rows_default,
  max: limits.book_page_rows_max,
} as const;

export function pageRows(limit: number | null | undefined): number {
  return Math.min(limit ?? limits.book_page_rows_default, limits.book_page_rows_max);
}

/** Number of a row in its book, within GraphQL's Int. 0 is before the first row. */
const SEQ_BOUNDS = `must be the seq of a row: a whole number from 0 to ${INT_MAX}`;
export const Seq = z.int({ error: SEQ_BOUNDS }).min(0, { error: SEQ_BOUNDS }).max(INT_MAX, { error: SEQ_BOUNDS });

const MOMENT = 'must be an RFC 3339 date-time with an offset, or a day such as 2026-01-31 (UTC)';

/** RFC 3339 time. A date alone is its start in UTC. */
export const Moment = z
  .union(
    [
      // An invalid text gives one error message, that of the first form.
      z.iso.datetime({ offset: true, error: MOMENT }),
      z.iso.date().transform(day => `${day}T00:00:00Z`),
    ],
    { error: MOMENT },
  )
  .transform(moment => new Date(moment))
  .refine(isOfFourDigits, { error: FOUR_DIGITS })
  .transform(moment => moment.toISOString())
  .meta({ scalar: 'DateTime' });

const RowNameText = storedText.min(1).max(limits.row_name_chars_max);

const DelegationHash = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, { error: 'is not 32 bytes: 0x and 64 hex digits' })
  .transform(text => text.toLowerCase());

/** Filter of the rows. An absent member does not restrict them. */
export const RowFilterMembers = {
  from: Moment.optional().describe(
    'Only rows whose `collected_at` is this time or later: RFC 3339 or, by REST and MCP, a day (its start, UTC). Default: all.',
  ),
  to: Moment.optional().describe(
    'Only rows whose `collected_at` is before this time: RFC 3339 or, by REST and MCP, a day (its start, UTC). Default: all.',
  ),
  evidence: word(evidences).optional().describe('Only rows with this evidence, such as `collected`. Default: all.'),
  intent_id: RowNameText.optional().describe('Only rows whose call names this intent, by its id. Default: all.'),
  task_id: RowNameText.optional().describe('Only the row of this task. Default: all rows.'),
  delegation_hash: DelegationHash.optional().describe(
    'Only rows of calls that were made under the session with this delegation hash: 0x and 64 hex digits. Default: all rows.',
  ),
  payment_ref: RowNameText.optional().describe(
    'Only rows of this payment: `network:transaction`. Several rows may share a transaction. Default: all rows.',
  ),
} as const;

/** The same filter, and a row by its position. */
export const RowFilterRequest = z.strictObject({
  ...RowFilterMembers,
  seq: Seq.optional().describe('Only the row with this seq. Default: all rows.'),
});

/** A row of a book. A name in a wrong form finds no row. */
export const RowRequest = z.strictObject({
  task_id: z.string().optional().describe('Task id of the row. Send either this or `seq`.'),
  seq: z.int().optional().describe('The seq of the row. Send either this or `task_id`.'),
});

/** Bounds of a page. */
export const RowCursorMembers = {
  before: Seq.optional().describe(
    'Returns only rows older than the one with this seq: for the next page, the seq of the last row received. Default: starts at the newest row.',
  ),
  after: Seq.optional().describe(
    'Returns only rows newer than the one with this seq: the oldest of them or, with `before`, the newest between the two. Default: no such bound.',
  ),
} as const;

const filter = RowFilterRequest.optional().describe('Filter of the rows. Default: all rows.');

/** Page of a book. REST has the members of `filter` beside the others. */
export const BookPageRequest = z.strictObject({
  limit: pageLimit({ of: 'rows', ...bookPageSize }),
  ...RowCursorMembers,
  filter,
});

const Cursor = z.string();

/** The same page as a connection, whose cursors are text. */
export const RowConnectionRequest = z.strictObject({
  first: pageLimit({ of: 'rows', ...bookPageSize, note: 'Counted from the beginning, which is the newest row.' }),
  after: Cursor.optional().describe(
    'Cursor of a row. Returns only rows after it, which are older. Default: starts at the newest row.',
  ),
  last: pageLimit({
    of: 'rows',
    max: bookPageSize.max,
    note: 'Counted back from the end, which is the oldest row. Send either this or `first`; default: `first` applies.',
  }),
  before: Cursor.optional().describe(
    'Cursor of a row. Returns only rows before it, which are newer. Default: no such bound.',
  ),
  filter,
});
export type RowConnectionRequest = z.output<typeof RowConnectionRequest>;

/** Filter and grouping of the totals of a book. */
export const TotalsByRequest = z.strictObject({
  by: z
    .array(word(totalsGroups))
    .describe('Properties to group the rows by. The response has the sums of each grouping by itself.'),
  from: Moment.optional().describe(
    'Only sums from this time on. It must be the start of a day (UTC) or, if all groupings are HOUR, of an hour. Default: all.',
  ),
  to: Moment.optional().describe(
    'Only sums before this time. It must be the start of a day (UTC) or, if all groupings are HOUR, of an hour. Default: all.',
  ),
});

/** The row of a book whose sequence is read. */
export const SequenceRequest = z.strictObject({
  task_id: RowFilterMembers.task_id.describe(
    'Task id of a row. `supersession` then describes only the chain of corrections that contains the row. Default: the whole book.',
  ),
});

/** Start of an event stream of a book, of the board, or of a session. */
export const FeedRequest = z.strictObject({
  after: z
    .int()
    .optional()
    .describe(
      'Position of the last event that the reader has, from 1; 0 starts with the first event. A negative number counts from the newest: -1 starts with it. Default: only new events.',
    ),
});

/** Budget Y. A string of digits sets it, null removes it (unlimited). If it is absent, the request only reads the book. */
const Budget = z
  .string()
  .refine(text => parseAtomic(text) !== null, { error: 'must be a string of digits (atomic USDC)' })
  .nullable()
  .meta({ scalar: 'AtomicAmount' });

/** Changes of a book's settings. */
export const BudgetRequest = z.object({
  budget: onGraph(
    'budgetAtomic',
    Budget.optional().describe(
      'Budget in atomic USDC. Null clears the budget: it is unlimited. If it is left out, the book is only read; on the graph it is required.',
    ),
  ),
});

/** Body of POST /v1/agents/{agent_id}/book. Possession is checked before the body is parsed. */
export const BookRequest = PossessionMembers.extend({
  limit: pageLimit({ of: 'rows', ...bookPageSize }),
  ...BudgetRequest.shape,
}).strict();
export type BookRequest = z.output<typeof BookRequest>;

/** A row in a path. */
export const LineagePath = BookPath.extend({
  task_id: z
    .string()
    .min(1)
    .describe('Task id of a row of the book. If it has no such row, the error is `task_not_on_book` (403).'),
});

/** Page of the descendants of a row. */
export const LineagePage = z.strictObject({
  limit: pageLimit({ of: 'descendants', ...bookPageSize }),
  after: Seq.optional().describe(
    'Returns only descendants after the row with this seq: `next` of the previous page. Default: starts at the first.',
  ),
});
export type LineagePage = z.output<typeof LineagePage>;

/** Requested parts of an agent's record. */
export const RecordRequest = z.object({
  opt_in: z
    .boolean()
    .optional()
    .describe(
      'If true, the record includes the exact history of the book (`off_board`, on the graph `offBoard`). Requires possession of the book: without it the request is refused. Default: false.',
    ),
});
