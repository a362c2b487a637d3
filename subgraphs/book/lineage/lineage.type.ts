import { LineageNoun, LineageRowNoun } from '../../../schema/book/book-lineage.ts';
import { objectType } from '../../graph-type.ts';

/* The lineage of a row, as the graph shows it. */

export const LineageRow = objectType(
  'LineageRow',
  'A row of a book, as far as its lineage shows it; `Book.row` has all of it.',
  LineageRowNoun,
);
export type LineageRow = InstanceType<typeof LineageRow>;

export const Lineage = objectType(
  'Lineage',
  'What a row of a book follows from, and what follows from it.',
  LineageNoun,
);
export type Lineage = InstanceType<typeof Lineage>;
