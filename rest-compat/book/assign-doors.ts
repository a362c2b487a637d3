import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject, present } from '../../schema/canonical-json.ts';
import { AssignmentRequest } from '../../schema/requests/assignment.ts';
import { PageLimit, pageRows, RowCursorMembers } from '../../schema/requests/book.ts';
import { documentDoor } from '../door.ts';
import { digits } from '../text-members.ts';
import { AssignmentAnswer, AssignmentsAnswer, CreatedAssignmentAnswer, SliceAnswer } from './assign-answers.ts';
import { AgentPath } from './doors.ts';
import { bookNulls } from './row.ts';

const { before } = RowCursorMembers;

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
    variables: ({ params }) => ({ agentId: params.agent_id }),
    response: AssignmentsAnswer,
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
    shows: z.object({ assignment: AssignmentAnswer, token: z.string() }),
    params: AgentPath,
    body: AssignmentRequest,
    variables: ({ params, body: { grant_type, grantee, slice, expires_at } }) => ({
      agentId: params.agent_id,
      input: present({
        grantType: grant_type,
        grantee,
        slice: slice && boundsOf(slice),
        expiresAt: expires_at,
      }),
    }),
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
    params: AgentPath.extend({ assignment_id: z.string().min(1).max(64) }),
    variables: ({ params }) => ({ agentId: params.agent_id, assignmentId: params.assignment_id }),
    response: AssignmentAnswer,
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
    query: z.strictObject({
      // It was looked at before, and goes no further.
      token: z
        .string()
        .optional()
        .describe('The token; better as `Authorization: Bearer`, which no log of a proxy shows.'),
      limit: digits(PageLimit).optional(),
      before: digits(before.unwrap())
        .optional()
        .describe(before.description ?? ''),
    }),
    variables: ({ query }) => ({ limit: pageRows(query.limit), ...present({ before: query.before }) }),
    nulls: { entries: bookNulls.entries, 'entries.replay_events': bookNulls['entries.replay_events'] },
    response: SliceAnswer,
    errors: ['token_required', 'token_invalid', 'book_damaged'],
  }),
] as const;

/** An assignment with its token beside its other members. */
function created({ answer }: JsonObject): Json {
  const { assignment, token } = isJsonObject(answer) ? answer : {};
  return isJsonObject(assignment) ? { ...assignment, token: token ?? null } : null;
}

function boundsOf({ from_date, to_date, task_ids, limit }: NonNullable<z.output<typeof AssignmentRequest>['slice']>) {
  return present({ fromDate: from_date, toDate: to_date, taskIds: task_ids, limit });
}
