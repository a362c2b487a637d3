import { BookSequenceNoun, SupersessionNoun } from '../../../schema/book-sequence.ts';
import { objectType } from '../../graph-type.ts';

/* The sequence of a book, as the graph shows it. */

objectType(
  'Supersession',
  'How rows take the place of others: of the whole book, or of the chain of one row.',
  SupersessionNoun,
);

export const BookSequence = objectType(
  'BookSequence',
  "A book's sequence, `svc402.book_seq_report.v1`.",
  BookSequenceNoun,
);
export type BookSequence = InstanceType<typeof BookSequence>;
