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

/** What an owner opens of a book to others, and the door at which they read it. */
export const assignDoors = [
  documentDoor({
    name: 'list_assignments',
    methods: ['GET'],
    path: '/v1/agents/{agent_id}/book/assign',
    summary: 'The slices of the book that were opened to others; no token is shown',
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
    summary: 'Opens a slice of the book to whoever holds the token that is answered, once',
    tags: ['book'],
    possession: 'bound',
    status: 201,
    field: 'createAssignment',
    shows: CreatedAssignmentNoun,
    params: AgentPath,
    body: AssignmentRequest,
    answer: created,
    response: CreatedAssignmentAnswer,
    errors: ['assignments_full'],
  }),
  documentDoor({
    name: 'revoke_assignment',
    methods: ['DELETE'],
    path: '/v1/agents/{agent_id}/book/assign/{assignment_id}',
    summary: 'Revokes an assignment: from then on its token opens nothing',
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
    summary: 'The rows of a book that a slice token opens',
    tags: ['book'],
    slice_token: 'whole',
    field: 'bookSlice',
    // A member that is not known is refused: a bound that was misspelt would show all rows of the slice.
    query: queryOf(
      z.object({
        // It was looked at before, and goes no further.
        token: z
          .string()
          .optional()
          .describe('The token; better as `Authorization: Bearer`, which no log of a proxy shows.'),
        ...SlicePage.shape,
      }),
    ),
    nulls: entriesNulls,
    response: BookSliceNoun,
    errors: ['token_required', 'token_invalid', 'book_damaged'],
  }),
] as const;

/** An assignment with its token beside its other members. */
function created({ answer }: JsonObject): Json {
  const { assignment, token } = isJsonObject(answer) ? answer : {};
  return isJsonObject(assignment) ? { ...assignment, token: token ?? null } : null;
}
