import { Field, ObjectType } from 'type-graphql';
import { AssignmentRequest, SliceBoundsRequest } from '../../../schema/requests/assignment.ts';
import {
  AssignmentsNoun,
  BookSliceNoun,
  SLICE_ENTRIES,
  type Slice,
  SliceBoundsNoun,
  SliceToken,
} from '../../../schema/slice.ts';
import { describedBy, inputType, membersOf, objectType, showMembers } from '../../graph-type.ts';
import { BookRow } from '../ledger/row.entity.ts';
import { SliceAssignment } from './assignment.entity.ts';

inputType(
  'SliceInput',
  'Which rows: those that match every member. A member that is left out narrows nothing.',
  SliceBoundsRequest,
);
export const AssignmentInput = inputType(
  'AssignmentInput',
  'What is opened, to whom, and until when.',
  AssignmentRequest,
);

export const ShownSliceBounds = objectType(
  'Slice',
  'Which rows of a book: those that match every member.',
  SliceBoundsNoun,
);
export type ShownSliceBounds = InstanceType<typeof ShownSliceBounds>;

export function shownBounds({ from_date, to_date, task_ids, limit }: Slice): ShownSliceBounds {
  const moment = (date: string | null) => (date === null ? null : new Date(date));
  return { fromDate: moment(from_date), toDate: moment(to_date), taskIds: task_ids, limit };
}

@ObjectType({ description: 'What an owner has opened of a book.' })
export class Assignments {
  agentId!: number;
  assignments!: readonly SliceAssignment[];
}
showMembers(Assignments, AssignmentsNoun);

@ObjectType({ description: 'An assignment, and the token that opens its slice.' })
export class CreatedAssignment {
  @Field(() => SliceAssignment, { description: 'The assignment as it is stored.' }) assignment!: SliceAssignment;
  @Field(() => String, describedBy(SliceToken)) token!: string;
}

@ObjectType({ description: 'The rows that a token opens, and nothing else of the book.' })
export class BookSlice extends membersOf(BookSliceNoun) {
  @Field(() => [BookRow], { description: SLICE_ENTRIES }) entries!: BookRow[];
}
showMembers(BookSlice, BookSliceNoun);
