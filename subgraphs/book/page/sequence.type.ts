import { BookSequenceNoun, SupersessionNoun } from '../../../schema/book-sequence.ts';
import { objectType } from '../../graph-type.ts';

/* GraphQL types of the sequence of a book. */

objectType(
  'Supersession',
  'How corrections replace rows, in the whole book or in the chain of one row.',
  SupersessionNoun,
);

export const BookSequence = objectType(
  'BookSequence',
  'Report on whether the seqs of the rows of a book have gaps, and how its corrections follow each other (`svc402.book_seq_report.v1`).',
  BookSequenceNoun,
);
export type BookSequence = InstanceType<typeof BookSequence>;
