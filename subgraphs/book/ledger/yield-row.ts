import type { Tx } from '../../database.ts';
import { storeBooks } from './append.ts';
import { lockBooksOf } from './correct.ts';
import { type Correcting, correctionRow, storeCorrections, uncorrected } from './correction-row.ts';

/** A row without an amount, of a transfer that another row is of with its payer proven. */
export interface Yielding extends Omit<Correcting, 'facts'> {
  /** Of the row. */
  readonly task_id: string;
  /** Of the row whose payer is proven, on whichever book. */
  readonly yielded_to: string;
}

/**
 * Part of the ledger: appends to each row a correction that names it and says to which row it yields. It counted nothing, so
 * no sum changes and the row stays as it is. A row is corrected once: of one that a correction names already nothing is said
 * again. Lands on a book that is closed, too: it takes nothing new in. How many were appended.
 */
export async function yieldRows(tx: Tx, items: readonly Yielding[]): Promise<number> {
  const yieldings = new Map(items.map(item => [item.task_id, item]));
  const { books, rows } = await lockBooksOf(tx, [...yieldings.keys()]);
  const corrections = (await uncorrected(tx, rows)).flatMap(row => {
    const yielding = yieldings.get(row.task_id);
    if (yielding === undefined) return [];
    const { yielded_to, correction_id, reason } = yielding;
    return [correctionRow(books, row, { correction_id, reason, facts: { yielded_to } })];
  });
  if (corrections.length === 0) return 0;
  storeCorrections(tx, corrections);
  storeBooks(
    tx,
    books,
    corrections.map(({ event }) => event),
  );
  return corrections.length;
}
