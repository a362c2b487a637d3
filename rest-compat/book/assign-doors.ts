import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { AssignmentPath, AssignmentRequest, SlicePage } from '../../schema/requests/assignment.ts';
import {
  AssignmentNoun,
  AssignmentsNoun,
  BookSliceNoun,
  CreatedAssignmentNoun,
  SliceBoundsNoun,
} from '../../schema/slice.ts';
import { nameComponents } from '../answer-shapes.ts';
import { documentDoor } from '../door.ts';
import { queryOf } from '../text-members.ts';
import { entriesNulls } from './answers.ts';
import { AgentPath } from './doors.ts';

const CreatedAssignmentAnswer = AssignmentNoun.extend({ token: CreatedAssignmentNoun.shape.token });

nameComponents({
  SliceBounds: SliceBoundsNoun,
  SliceAssignment: AssignmentNoun,
  CreatedAssignment: CreatedAssignmentAnswer,
  Assignments: AssignmentsNoun,
  BookSlice: BookSliceNoun,
});

/** Endpoints by which an owner shares a part of a book, and the endpoint that reads it. */
export const assignDoors = [
  documentDoor({
    name: 'list_assignments',
    methods: ['GET'],
    path: '/v1/agents/{agent_id}/book/assign',
    summary: 'List the assignments of the book, by which others can read a part of it; tokens are not shown',
    tags: ['book'],
    possession: 'required',
    field: 'assignments',
    params: AgentPath,
    response: AssignmentsNoun,
  }),
  documentDoor({
    name: 'create_assignment',
    effect: 'adds',
    tool: { none: 'returns_secret' },
    methods: ['POST'],
    path: '/v1/agents/{agent_id}/book/assign',
    summary: 'Assign a slice of the book; the response shows once the token that opens it',
    tags: ['book'],
    possession: 'bound',
    status: 201,
    field: 'createAssignment',
    shows: CreatedAssignmentNoun,
    params: AgentPath,
    body: AssignmentRequest,
    answer: assignmentWithToken,
    response: CreatedAssignmentAnswer,
    errors: ['assignments_full'],
  }),
  documentDoor({
    name: 'revoke_assignment',
    methods: ['DELETE'],
    path: '/v1/agents/{agent_id}/book/assign/{assignment_id}',
    summary: 'Revoke an assignment; its token stops working',
    tags: ['book'],
    possession: 'required',
    field: 'revokeAssignment',
    params: AgentPath.extend({ assignment_id: AssignmentPath.shape.assignment_id }),
    response: AssignmentNoun,
    errors: ['not_found'],
  }),
  documentDoor({
    name: 'get_book_slice',
    tool: { none: 'needs_secret' },
    methods: ['GET'],
    path: '/v1/book/slice',
    summary: 'List the rows of a book that the token of an assignment opens',
    tags: ['book'],
    slice_token: 'whole',
    field: 'bookSlice',
    // An unknown member is refused, because with a misspelt bound the response would have all rows of the slice.
    query: queryOf(
      z.object({
        // Checked before the operation runs, which does not read it.
        token: z
          .string()
          .optional()
          .describe('Token of the assignment. Prefer `Authorization: Bearer`: logs of proxies show a query.'),
        ...SlicePage.shape,
      }),
    ),
    nulls: entriesNulls,
    response: BookSliceNoun,
    errors: ['token_required', 'token_invalid', 'book_damaged'],
  }),
] as const;

/** An assignment, with its token as a member. */
function assignmentWithToken({ answer }: JsonObject): Json {
  const { assignment, token } = isJsonObject(answer) ? answer : {};
  return isJsonObject(assignment) ? { ...assignment, token: token ?? null } : null;
}
