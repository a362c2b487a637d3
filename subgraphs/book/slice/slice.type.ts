import { AssignmentRequest, SliceBoundsRequest } from '../../../schema/requests/assignment.ts';
import {
  AssignmentsNoun,
  BookSliceNoun,
  CreatedAssignmentNoun,
  type Slice,
  SliceBoundsNoun,
} from '../../../schema/slice.ts';
import { inputType, objectType } from '../../graph-type.ts';

/* How the graph takes and shows slices of books and what opens them. */

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

export const Assignments = objectType('Assignments', 'What an owner has opened of a book.', AssignmentsNoun);
export type Assignments = InstanceType<typeof Assignments>;

export const CreatedAssignment = objectType(
  'CreatedAssignment',
  'An assignment, and the token that opens its slice.',
  CreatedAssignmentNoun,
);
export type CreatedAssignment = InstanceType<typeof CreatedAssignment>;

export const BookSlice = objectType(
  'BookSlice',
  'The rows that a token opens, and nothing else of the book.',
  BookSliceNoun,
);
export type BookSlice = InstanceType<typeof BookSlice>;
