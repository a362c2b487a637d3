import type { Tx } from '../../database.ts';
import { storeBooks } from './append.ts';
import { lockBooksOf } from './correct.ts';
import { type CorrectionFacts, correctionRow, rowsWithoutCorrection, storeCorrections } from './correction-row.ts';

/** Row without an amount, for a transfer that another row records with a proven payer. */
export interface YieldedRow extends Omit<CorrectionFacts, 'facts'> {
  /** Task id of the row. */
  readonly task_id: string;
  /** Task id of the row with the proven payer, which may be on any book. */
  readonly yielded_to: string;
}

/**
 * Appends to each row a correction that names the row with the proven payer. The corrected row counted in no sum, so no sum
 * changes. A row that already has a correction gets none. This also works on a book that the audit closed, because no new spending
 * is recorded. Returns the number of corrections.
 */
export async function yieldRows(tx: Tx, items: readonly YieldedRow[]): Promise<number> {
  const yieldings = new Map(items.map(item => [item.task_id, item]));
  const { books, rows } = await lockBooksOf(tx, [...yieldings.keys()]);
  const corrections = (await rowsWithoutCorrection(tx, rows)).flatMap(row => {
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
