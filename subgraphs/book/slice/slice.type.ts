import { AssignmentRequest, SliceBoundsRequest } from '../../../schema/requests/assignment.ts';
import {
  AssignmentsNoun,
  BookSliceNoun,
  CreatedAssignmentNoun,
  type Slice,
  SliceBoundsNoun,
} from '../../../schema/slice.ts';
import { inputType, objectType } from '../../graph-type.ts';

/* GraphQL inputs and types of slices and assignments. */

inputType(
  'SliceInput',
  'Filter of the rows of a slice: rows that match every member. A member that is left out does not restrict the rows.',
  SliceBoundsRequest,
);
export const AssignmentInput = inputType(
  'AssignmentInput',
  'Assignment to create: what its token permits, the slice, the recipient and the expiry.',
  AssignmentRequest,
);

export const ShownSliceBounds = objectType(
  'Slice',
  'Filter that makes a slice, a part of a book: it has the rows that match every member.',
  SliceBoundsNoun,
);
export type ShownSliceBounds = InstanceType<typeof ShownSliceBounds>;

export function shownBounds({ from_date, to_date, task_ids, limit }: Slice): ShownSliceBounds {
  const moment = (date: string | null) => (date === null ? null : new Date(date));
  return { fromDate: moment(from_date), toDate: moment(to_date), taskIds: task_ids, limit };
}

export const Assignments = objectType(
  'Assignments',
  'Assignments of a book. Each opens a slice of the book to the holder of its token.',
  AssignmentsNoun,
);
export type Assignments = InstanceType<typeof Assignments>;

export const CreatedAssignment = objectType(
  'CreatedAssignment',
  'A new assignment (access to a slice of a book), with the token that opens the slice.',
  CreatedAssignmentNoun,
);
export type CreatedAssignment = InstanceType<typeof CreatedAssignment>;

export const BookSlice = objectType('BookSlice', 'Rows of a book that a token opens.', BookSliceNoun);
export type BookSlice = InstanceType<typeof BookSlice>;
