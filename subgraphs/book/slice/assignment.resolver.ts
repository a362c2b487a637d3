import { Arg, Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { AssignmentPath, AssignmentRequest } from '../../../schema/requests/assignment.ts';
import { BookPath } from '../../../schema/requests/book-path.ts';
import { AssignmentNoun, type AssignmentStatus, assignmentStatus, assignmentStatuses } from '../../../schema/slice.ts';
import { requireBound, requireHeld, requirePossession } from '../../access.ts';
import { wordEnum } from '../../graph-enum.ts';
import {
  type Arguments,
  type ArgumentsOfBook,
  argumentsType,
  descriptionOptions,
  givenMembers,
  readRequest,
} from '../../graph-type.ts';
import type { BookContext } from '../context.ts';
import { assignmentsOf, createAssignment, revokeAssignment } from './assign.ts';
import { SliceAssignment } from './assignment.entity.ts';
import { AssignmentInput, Assignments, CreatedAssignment, ShownSliceBounds, shownBounds } from './slice.type.ts';

const BookArguments = argumentsType(BookPath);
const AssignmentArguments = argumentsType(AssignmentPath);
const members = AssignmentNoun.shape;

@Resolver(() => SliceAssignment)
export class AssignmentResolver {
  @Query(() => Assignments, {
    nullable: true,
    description:
      'Assignments of a book, without their tokens. Requires possession of the book. Null if there is an error.',
  })
  async assignments(
    @Args(() => BookArguments) args: ArgumentsOfBook,
    @Ctx() { principal, database }: BookContext,
  ): Promise<Assignments> {
    const agent_id = requirePossession(principal, args.agentId);
    return { agentId: agent_id, assignments: await assignmentsOf(database, agent_id) };
  }

  @Mutation(() => CreatedAssignment, {
    nullable: true,
    description:
      'Opens a slice of a book, and returns the token for it. Requires the session of the book (`X-SVC-Session`), or a proof that is bound to the request (`X-SVC-Proof` with `X-SVC-Nonce`). Null if there is an error.',
  })
  createAssignment(
    @Args(() => BookArguments) args: ArgumentsOfBook,
    @Arg('input', () => AssignmentInput, { description: 'The slice, the recipient and the expiry.' }) input: Arguments,
    @Ctx() context: BookContext,
  ): Promise<CreatedAssignment> {
    const held = requireBound(context.principal, args.agentId);
    return createAssignment(context, held, readRequest(AssignmentRequest, input, context));
  }

  @Mutation(() => SliceAssignment, {
    nullable: true,
    description:
      'Revokes an assignment: its token is refused from now on. Repeating the request changes nothing. Requires possession of the book. Null if there is an error.',
  })
  revokeAssignment(
    @Args(() => AssignmentArguments) args: ArgumentsOfBook,
    @Ctx() { principal, database }: BookContext,
  ): Promise<SliceAssignment> {
    const { assignment_id } = givenMembers(AssignmentPath, args);
    return revokeAssignment(database, requireHeld(principal, args.agentId), assignment_id);
  }

  @FieldResolver(() => ShownSliceBounds, descriptionOptions(members.slice))
  slice(@Root() { slice }: SliceAssignment): ShownSliceBounds {
    return shownBounds(slice);
  }

  @FieldResolver(() => wordEnum(assignmentStatuses), descriptionOptions(members.status))
  status(@Root() assignment: SliceAssignment, @Ctx() { clock }: BookContext): AssignmentStatus {
    return assignmentStatus(assignment, clock.now_ms());
  }
}
