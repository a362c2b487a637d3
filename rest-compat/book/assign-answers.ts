import { z } from 'zod';
import { sliceLimits } from '../../schema/limits.ts';
import { assignmentStatuses, grantTypes, SliceBoundsNoun } from '../../schema/slice.ts';
import { wordList } from '../../schema/words.ts';
import { nameComponents } from '../answer-shapes.ts';
import { Row } from './row.ts';

/* What the doors of assignments and slices answer, as it looks on the wire. */

export const AssignmentAnswer = z.object({
  assignment_id: z.string().describe('Its own id; not the token.'),
  agent_id: z.int(),
  grant_type: z.enum(wordList(grantTypes)),
  grantee: z.string().nullable(),
  slice: SliceBoundsNoun,
  expires_at: z.string().nullable(),
  status: z.enum(wordList(assignmentStatuses)),
  created_at: z.string(),
  created_by: z.enum(['session', 'bound_proof']).describe('By what whoever made it had opened the book.'),
  created_session: z.string().describe('Of the session that made it: SHA-256, its first 16 hex digits.'),
  revoked_at: z.string().nullable(),
  revoked_by: z.enum(['session', 'plain_proof', 'bound_proof']).nullable(),
  revoked_session: z.string().nullable(),
});

export const CreatedAssignmentAnswer = AssignmentAnswer.extend({
  token: z.string().describe('The whole credential of the slice: shown here and never again.'),
});

export const AssignmentsAnswer = z.object({
  agent_id: z.int(),
  assignments: z
    .array(AssignmentAnswer)
    .describe(
      `Newest first: all that are live, and the newest ${sliceLimits.over_kept_max} that are over. No token is shown.`,
    ),
});

export const SliceAnswer = z.object({
  agent_id: z.int(),
  grant_type: z.enum(wordList(grantTypes)),
  slice: SliceBoundsNoun,
  entries: z
    .array(Row)
    .describe("Newest first. A refused call shows no sum and no ceiling: they are the whole book's."),
  next: z.int().nullable().describe('`before` of the next page. Null if the slice has no further rows.'),
});

nameComponents({
  SliceBounds: SliceBoundsNoun,
  SliceAssignment: AssignmentAnswer,
  CreatedAssignment: CreatedAssignmentAnswer,
  Assignments: AssignmentsAnswer,
  BookSlice: SliceAnswer,
});
