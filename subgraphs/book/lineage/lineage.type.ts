import { LineageNoun, LineageRowNoun } from '../../../schema/book/book-lineage.ts';
import { objectType } from '../../graph-type.ts';

/* GraphQL types of lineages. */

export const LineageRow = objectType(
  'LineageRow',
  'A row in a lineage. `Book.row` returns the whole row.',
  LineageRowNoun,
);
export type LineageRow = InstanceType<typeof LineageRow>;

export const Lineage = objectType('Lineage', 'Ancestors and descendants of a row of a book.', LineageNoun);
export type Lineage = InstanceType<typeof Lineage>;
