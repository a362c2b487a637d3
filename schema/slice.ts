import { z } from 'zod';
import { Row } from './book/row.ts';
import { sliceLimits } from './limits.ts';
import { computedMember, sizedList, TimeMember, word } from './noun.ts';
import { proofMethods } from './principal.ts';
import type { WordOf, Words } from './words.ts';

/* A slice: a part of a book that its owner opens to others, and what its token permits. */

export const grantTypes = {
  graph: 'GrantType',
  description: 'What the token of an assignment permits: reading a part of a book, or also recording inflows.',
  meanings: {
    read: 'The token reads the rows of the slice, and records nothing.',
    collect: 'The token reads the slice, and records inflows that lie within it.',
  },
} as const satisfies Words;
export type GrantType = WordOf<typeof grantTypes>;

/** A filter of rows: rows match all members. A member that is null does not restrict them. */
export interface Slice {
  /** ISO 8601. Collected at this moment or later. */
  readonly from_date: string | null;
  /** ISO 8601. Collected before this moment. */
  readonly to_date: string | null;
  readonly task_ids: readonly string[] | null;
  /** Maximum number of these rows, the newest. */
  readonly limit: number | null;
}

/** Bounds of a slice as they are shown. */
export const SliceBoundsNoun = z.object({
  from_date: TimeMember.nullable().describe(
    'Rows whose `collected_at` is this time or later (RFC 3339, UTC). Null if there is no lower bound.',
  ),
  to_date: TimeMember.nullable().describe(
    'Rows whose `collected_at` is before this time (RFC 3339, UTC). Null if there is no upper bound.',
  ),
  task_ids: sizedList(z.string(), 10).nullable().describe('Rows of these tasks. Null if the tasks are not restricted.'),
  limit: z
    .int()
    .nullable()
    .describe('Maximum number of rows: the newest of those that match. Null if there is no maximum.'),
});

/** Computed when it is read, not stored. It alone decides whether a token is accepted. */
export const assignmentStatuses = {
  graph: 'AssignmentStatus',
  description: 'Whether the token of an assignment opens its slice.',
  meanings: {
    live: 'The token is valid and opens the slice.',
    expired: 'The token has expired and opens nothing.',
    revoked: 'The owner of the book has revoked the token.',
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

/** An assignment gives the holder of its token access to a slice of a book. */
export const AssignmentNoun = z.object({
  assignment_id: z.string().describe('Id of the assignment. It is not the token.'),
  agent_id: book,
  grant_type: word(grantTypes),
  grantee: z
    .string()
    .nullable()
    .describe("Name of the recipient, in the owner's words. It is not verified. Null if none was given."),
  slice: computedMember(
    SliceBoundsNoun.describe(
      'Filter of the rows that the token opens: by time and task, and a maximum number. A member that is null does not restrict them.',
    ),
  ),
  expires_at: TimeMember.nullable().describe(
    'Time the token expires (RFC 3339, UTC). Null if it is valid until it is revoked.',
  ),
  status: computedMember(word(assignmentStatuses)),
  created_at: TimeMember.describe('Time the assignment was created (RFC 3339, UTC).'),
  created_by: z
    .enum(['session', 'bound_proof'])
    .describe(
      'How the creator of the assignment opened the book: `session` (the secret itself) or `bound_proof` (a proof bound to the request).',
    )
    .meta({ words: proofMethods }),
  created_session: z.string().describe('Session of the creator: the first 16 hex digits of its SHA-256.'),
  revoked_at: TimeMember.nullable().describe(
    'Time the assignment was revoked (RFC 3339, UTC). Null if it was not revoked.',
  ),
  revoked_by: z
    .enum(['session', 'plain_proof', 'bound_proof'])
    .nullable()
    .describe(
      'How the owner opened the book to revoke the assignment: `session` (the secret itself), `plain_proof` (a proof) or `bound_proof` (a proof bound to the request). Null if the owner has not revoked it.',
    )
    .meta({ words: proofMethods }),
  revoked_session: z
    .string()
    .nullable()
    .describe(
      'Session of the owner that revoked the assignment: the first 16 hex digits of its SHA-256. Null if the owner has not revoked it.',
    ),
});

/** An assignment as it was created, with the token that opens its slice. */
export const CreatedAssignmentNoun = z.object({
  assignment: AssignmentNoun.describe(
    'The new assignment: what its token permits, the slice, the recipient and the expiry.',
  ),
  token: z.string().describe('Secret that opens the slice. It is shown here and never again.'),
});

export const AssignmentsNoun = z.object({
  agent_id: book,
  assignments: sizedList(AssignmentNoun, sliceLimits.live_per_book_max + sliceLimits.over_kept_max).describe(
    `Assignments, newest first: live ones, and expired or revoked ones, of which the newest ${sliceLimits.over_kept_max} are kept when another is created. Tokens are not shown.`,
  ),
});

export const BookSliceNoun = z.object({
  agent_id: book,
  grant_type: word(grantTypes),
  slice: SliceBoundsNoun.describe('Filter of the rows that the token opens.'),
  entries: z
    .array(Row)
    .describe(
      'Rows of the page, newest first. No row shows its hashes, and that of a refused call shows none of `reason`, `policy_key`, `spent_atomic`, `cap_atomic` and `period_start`.',
    ),
  next: z
    .int()
    .nullable()
    .describe('`before` of the next page. Null if the slice has no further rows.')
    .meta({ cost: 50 }),
});

/** The bound that a row is outside of. Null if the row is inside the slice. The limit on the number of rows is not checked. */
export function outsideOf(
  { from_date, to_date, task_ids }: Slice,
  row: { readonly task_id: string; readonly at_ms: number },
): 'from_date' | 'to_date' | 'task_ids' | null {
  if (from_date !== null && row.at_ms < Date.parse(from_date)) return 'from_date';
  if (to_date !== null && row.at_ms >= Date.parse(to_date)) return 'to_date';
  return task_ids !== null && !task_ids.includes(row.task_id) ? 'task_ids' : null;
}
