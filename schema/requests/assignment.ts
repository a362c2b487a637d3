import { z } from 'zod';
import { sliceLimits } from '../limits.ts';
import { grantTypes, type Slice } from '../slice.ts';
import { wordList } from '../words.ts';
import { Moment } from './book.ts';
import { listOf } from './parse.ts';
import { PossessionMembers } from './possession.ts';
import { storedText } from './text.ts';

/* What is asked of POST /v1/agents/{agent_id}/book/assign. */

const LIMIT_BOUNDS = `is a whole number from 1 to ${sliceLimits.rows_max}`;

const members = z
  // A bound that was misspelt would open more than its owner meant.
  .strictObject({
    from_date: Moment.nullable()
      .optional()
      .describe('Rows collected at this moment or later: RFC 3339, or a day (UTC).'),
    to_date: Moment.nullable().optional().describe('Rows collected before this moment: RFC 3339, or a day (UTC).'),
    task_ids: listOf(storedText.min(1).max(sliceLimits.task_chars_max), sliceLimits.task_ids_max)
      .nullable()
      .optional()
      .describe('The rows of these tasks.'),
    limit: z
      .int({ error: LIMIT_BOUNDS })
      .min(1, { error: LIMIT_BOUNDS })
      .max(sliceLimits.rows_max, { error: LIMIT_BOUNDS })
      .nullable()
      .optional()
      .describe('No more than so many of these rows, the newest.'),
  })
  .refine(({ from_date, to_date }) => !from_date || !to_date || from_date < to_date, {
    path: ['to_date'],
    error: 'is not after from_date',
  });

const SliceMember = members
  .nullable()
  .optional()
  .describe('Which rows: those of which all that is said is true. What is left out narrows nothing.');

/** What of an assignment is the same by REST and on the graph. */
export const AssignmentMembers = z.strictObject({
  grant_type: z
    .enum(wordList(grantTypes))
    .optional()
    .describe('`read` unless told; `collect`: also to record inflows that lie within the slice.'),
  grantee: storedText
    .min(1)
    .max(sliceLimits.grantee_chars_max)
    .nullable()
    .optional()
    .describe('For whom, in words of the owner; proven by nothing.'),
  slice: SliceMember,
  expires_at: Moment.nullable().optional().describe('When the token ends; null: when it is revoked.'),
});
export type AssignmentMembers = z.output<typeof AssignmentMembers>;

/** Body of POST /v1/agents/{agent_id}/book/assign; possession in it was looked at before. */
export const AssignmentRequest = PossessionMembers.extend(AssignmentMembers.shape).strict();

/** As it is kept: each bound is there, null where it narrows nothing. */
export function sliceOf({ slice }: Pick<AssignmentMembers, 'slice'>): Slice {
  const { from_date = null, to_date = null, task_ids = null, limit = null } = slice ?? {};
  return { from_date, to_date, task_ids: task_ids && [...new Set(task_ids)], limit };
}
