import { z } from 'zod';
import { limits, sliceLimits } from '../limits.ts';
import { word } from '../noun.ts';
import { grantTypes, type Slice } from '../slice.ts';
import { bookPageSize, Moment, RowCursorMembers } from './book.ts';
import { BookPath } from './book-path.ts';
import { pageLimit } from './page-limit.ts';
import { listOf } from './parse.ts';
import { PossessionMembers } from './possession.ts';
import { storedText } from './text.ts';

/* Requests of /v1/agents/{agent_id}/book/assign, of the endpoints below it, and of /v1/book/slice. */

const LIMIT_BOUNDS = `must be a whole number from 1 to ${sliceLimits.rows_max}`;

/** The rows of a slice. */
export const SliceBoundsRequest = z
  // Unknown members are refused, because a misspelled bound would share more rows than the owner meant.
  .strictObject({
    from_date: Moment.nullable()
      .optional()
      .describe(
        'Only rows whose `collected_at` is this time or later: RFC 3339 or, by REST and MCP, a day (its start, UTC). Default: all.',
      ),
    to_date: Moment.nullable()
      .optional()
      .describe(
        'Only rows whose `collected_at` is before this time: RFC 3339 or, by REST and MCP, a day (its start, UTC). Default: all.',
      ),
    task_ids: listOf(storedText.min(1).max(sliceLimits.task_chars_max), sliceLimits.task_ids_max)
      .nullable()
      .optional()
      .describe('Only rows of these tasks. Default: rows of all tasks.'),
    limit: z
      .int({ error: LIMIT_BOUNDS })
      .min(1, { error: LIMIT_BOUNDS })
      .max(sliceLimits.rows_max, { error: LIMIT_BOUNDS })
      .nullable()
      .optional()
      .describe(`Maximum number of rows, 1 to ${sliceLimits.rows_max}: the newest of those that match. Default: all.`),
  })
  .refine(({ from_date, to_date }) => !from_date || !to_date || from_date < to_date, {
    path: ['to_date'],
    error: 'must be after from_date',
  });

/** Body of POST /v1/agents/{agent_id}/book/assign. Possession is checked before the body is parsed. */
export const AssignmentRequest = PossessionMembers.extend({
  grant_type: word(grantTypes)
    .optional()
    .describe(
      'What the token permits. `read` (default): to read the slice. `collect`: also to record inflows that lie within the slice.',
    ),
  grantee: storedText
    .min(1)
    .max(sliceLimits.grantee_chars_max)
    .nullable()
    .optional()
    .describe(
      `Name of the recipient, up to ${sliceLimits.grantee_chars_max} characters. The name is not verified. Default: none.`,
    ),
  slice: SliceBoundsRequest.nullable()
    .optional()
    .describe(
      'Filter: the slice has the rows that match every member of `{from_date, to_date, task_ids, limit}`. A member that is left out does not restrict the rows. Default: all rows.',
    ),
  expires_at: Moment.nullable()
    .optional()
    .describe(
      'Time the token expires, in the future: RFC 3339 or, by REST and MCP, a day (its start, UTC). Default: the token is valid until it is revoked.',
    ),
}).strict();
export type AssignmentMembers = Omit<z.output<typeof AssignmentRequest>, 'session' | 'proof'>;

/** An assignment in a path. */
export const AssignmentPath = BookPath.extend({
  assignment_id: z.string().min(1).max(limits.id_chars_max).describe('Id of the assignment.'),
});

/** Page of a slice. */
export const SlicePage = z.strictObject({
  limit: pageLimit({ of: 'rows', ...bookPageSize }),
  before: RowCursorMembers.before,
});

/** The bounds as they are stored: all members are present, null if a bound restricts nothing. */
export function sliceOf({ slice }: Pick<AssignmentMembers, 'slice'>): Slice {
  const { from_date = null, to_date = null, task_ids = null, limit = null } = slice ?? {};
  return { from_date, to_date, task_ids: task_ids && [...new Set(task_ids)], limit };
}
