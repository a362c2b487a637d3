import { Arg, Ctx, FieldResolver, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { toSnakeKeys, withoutNull } from '../../../schema/camel.ts';
import { AssignmentMembers } from '../../../schema/requests/assignment.ts';
import { parseRequest } from '../../../schema/requests/parse.ts';
import { type AssignmentStatus, assignmentStatus } from '../../../schema/slice.ts';
import { requireBound, requireHeld, requirePossession } from '../../access.ts';
import type { BookContext } from '../context.ts';
import { assignmentsOf, createAssignment, revokeAssignment } from './assign.ts';
import { AssignmentStatusWord, SliceAssignment } from './assignment.entity.ts';
import { AssignmentInput, Assignments, CreatedAssignment, ShownSliceBounds, shownBounds } from './slice.type.ts';

@Resolver(() => SliceAssignment)
export class AssignmentResolver {
  @Query(() => Assignments, {
    nullable: true,
    description: 'What is opened of a book, for whoever possesses it. It shows no token.',
  })
  async assignments(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Ctx() { principal, database }: BookContext,
  ): Promise<Assignments> {
    const agent_id = requirePossession(principal, agentId);
    return { agentId: agent_id, assignments: await assignmentsOf(database, agent_id) };
  }

  @Mutation(() => CreatedAssignment, {
    nullable: true,
    description:
      "Opens a slice of a book. It hands out a secret: the book's session is wanted, or a proof that is bound to the request.",
  })
  createAssignment(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('input', () => AssignmentInput, { description: 'What, to whom, and until when.' }) input: AssignmentInput,
    @Ctx() context: BookContext,
  ): Promise<CreatedAssignment> {
    const held = requireBound(context.principal, agentId);
    return createAssignment(context, held, parseRequest(AssignmentMembers, membersOf(input)));
  }

  @Mutation(() => SliceAssignment, {
    nullable: true,
    description: 'Its token opens nothing any more, in no process. Again it is the same.',
  })
  revokeAssignment(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('assignmentId', () => String, { description: 'Which one.' }) assignmentId: string,
    @Ctx() { principal, database }: BookContext,
  ): Promise<SliceAssignment> {
    return revokeAssignment(database, requireHeld(principal, agentId), assignmentId);
  }

  @FieldResolver(() => ShownSliceBounds, { description: 'Which rows.' })
  slice(@Root() { slice }: SliceAssignment): ShownSliceBounds {
    return shownBounds(slice);
  }

  @FieldResolver(() => AssignmentStatusWord, { description: 'Whether its token opens anything.' })
  status(@Root() assignment: SliceAssignment, @Ctx() { clock }: BookContext): AssignmentStatus {
    return assignmentStatus(assignment, clock.now_ms());
  }
}

/** An input as the wire spells it. */
function membersOf({ slice, expiresAt, ...input }: AssignmentInput): unknown {
  const bounds = slice && { ...slice, fromDate: slice.fromDate?.toISOString(), toDate: slice.toDate?.toISOString() };
  const given = { ...input, slice: bounds && withoutNull(bounds), expiresAt: expiresAt?.toISOString() };
  return toSnakeKeys(withoutNull(given));
}
