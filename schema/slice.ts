import { z } from 'zod';
import { Row } from './book/row.ts';
import { sliceLimits } from './limits.ts';
import { computed, sizedList, TimeMember, word } from './noun.ts';
import { proofMeans } from './principal.ts';
import type { WordOf, Words } from './words.ts';

/* A part of a book that its owner opens to somebody else, and what may be done there. */

export const grantTypes = {
  graph: 'GrantType',
  description: 'What the token of an assignment does.',
  meanings: {
    read: 'It reads the slice.',
    collect: 'It reads the slice, and records inflows that lie within it.',
  },
} as const satisfies Words;
export type GrantType = WordOf<typeof grantTypes>;

/** Which rows: those of which all that is said here is true. What is null narrows nothing. */
export interface Slice {
  /** ISO 8601. Collected at this moment or later. */
  readonly from_date: string | null;
  /** ISO 8601. Collected before this moment. */
  readonly to_date: string | null;
  readonly task_ids: readonly string[] | null;
  /** No more than so many of these rows, the newest. */
  readonly limit: number | null;
}

/** What is shown of the bounds of a slice. */
export const SliceBoundsNoun = z.object({
  from_date: TimeMember.nullable().describe('Rows collected at this time or later. Null if there is no lower bound.'),
  to_date: TimeMember.nullable().describe('Rows collected before this time. Null if there is no upper bound.'),
  task_ids: sizedList(z.string(), 10).nullable().describe('Rows of these tasks. Null if the tasks are not restricted.'),
  limit: z
    .int()
    .nullable()
    .describe('Maximum number of rows: the newest of those that match. Null if there is no maximum.'),
});

/** Who may ask is told apart by this alone; it is not stored. */
export const assignmentStatuses = {
  graph: 'AssignmentStatus',
  description: 'Whether a token opens anything.',
  meanings: {
    live: 'It does.',
    expired: 'Its time is over.',
    revoked: 'Its owner has ended it.',
  },
} as const satisfies Words;
export type AssignmentStatus = WordOf<typeof assignmentStatuses>;

export function assignmentStatus(
  { revokedAt, expiresAt }: { readonly revokedAt: Date | null; readonly expiresAt: Date | null },
  now_ms: number,
): AssignmentStatus {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt.getTime() <= now_ms ? 'expired' : 'live';
}

const book = z.int().describe('Id of the agent whose book it is.');

/** A slice of a book as it is opened to whoever holds its token. */
export const AssignmentNoun = z.object({
  assignment_id: z.string().describe('Id of the assignment; not the token.'),
  agent_id: book,
  grant_type: word(grantTypes),
  grantee: z.string().nullable().describe("For whom it is, in the owner's words. Null if not said."),
  slice: computed(SliceBoundsNoun.describe('Which rows it opens.')),
  expires_at: TimeMember.nullable().describe('Time it ends by itself (RFC 3339, UTC). Null if it does not.'),
  status: computed(word(assignmentStatuses)),
  created_at: TimeMember.describe('Time it was created (RFC 3339, UTC).'),
  created_by: z
    .enum(['session', 'bound_proof'])
    .describe('What its creator opened the book with.')
    .meta({ words: proofMeans }),
  created_session: z.string().describe('Session of its creator: the first 16 hex digits of its SHA-256.'),
  revoked_at: TimeMember.nullable().describe('Time it was revoked (RFC 3339, UTC). Null if it was not.'),
  revoked_by: z
    .enum(['session', 'plain_proof', 'bound_proof'])
    .nullable()
    .describe('What the book was opened with to revoke it. Null if it was not revoked by its owner.')
    .meta({ words: proofMeans }),
  revoked_session: z
    .string()
    .nullable()
    .describe('Session by which it was revoked: the first 16 hex digits of its SHA-256. Null if there is none.'),
});

/** An assignment as it was created, with the token that opens its slice. */
export const CreatedAssignmentNoun = z.object({
  assignment: AssignmentNoun.describe('The assignment as it is stored.'),
  token: z.string().describe('Secret that opens the slice. It is shown here and never again.'),
});

export const AssignmentsNoun = z.object({
  agent_id: book,
  assignments: sizedList(AssignmentNoun, sliceLimits.live_per_book_max + sliceLimits.over_kept_max).describe(
    `Newest first: all that are live, and the newest ${sliceLimits.over_kept_max} that are over. No token is shown.`,
  ),
});

export const BookSliceNoun = z.object({
  agent_id: book,
  grant_type: word(grantTypes),
  slice: SliceBoundsNoun.describe('Which rows it opens.'),
  entries: z
    .array(Row)
    .describe(
      'Rows of the page, newest first. Of a refused call no sum and no ceiling is shown, and of no row its hashes, by which these could be guessed.',
    ),
  next: z
    .int()
    .nullable()
    .describe('`before` of the next page. Null if the slice has no further rows.')
    .meta({ cost: 50 }),
});

/** By which bound of a slice a row would lie outside of it; null where it lies within. How many rows there are is no bound. */
export function outsideOf(
  { from_date, to_date, task_ids }: Slice,
  row: { readonly task_id: string; readonly at_ms: number },
): 'from_date' | 'to_date' | 'task_ids' | null {
  if (from_date !== null && row.at_ms < Date.parse(from_date)) return 'from_date';
  if (to_date !== null && row.at_ms >= Date.parse(to_date)) return 'to_date';
  return task_ids !== null && !task_ids.includes(row.task_id) ? 'task_ids' : null;
}
