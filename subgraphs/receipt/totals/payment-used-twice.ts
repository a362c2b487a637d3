import type { Tx } from '../../transaction.ts';
import type { CollectedLeaf } from './collected.ts';

/** Two receipts name one transfer: an alarm. Nothing is signed over it, and the trees stay as they were before it. */
export class PaymentUsedTwice extends Error {
  override name = 'PaymentUsedTwice';
  readonly conflict: PaymentConflict;

  constructor(conflict: PaymentConflict) {
    super(`one payment backs two receipts: leaves ${conflict.first} and ${conflict.second} of the log`);
    this.conflict = conflict;
  }
}

interface PaymentConflict {
  readonly payment_key: string;
  /** Leaves of the log. */
  readonly first: number;
  readonly second: number;
}

/** @throws PaymentUsedTwice */
export async function requireNew(tx: Tx, collected: readonly CollectedLeaf[]): Promise<void> {
  const leaves = new Map<string, number>();
  const { rows } = await tx.query<{ payment_key: string; leaf_index: number }>({
    name: 'payments counted before',
    text: 'select payment_key, leaf_index from totals_row where payment_key = any($1)',
    values: [collected.flatMap(({ payment_key }) => payment_key ?? [])],
  });
  for (const { payment_key, leaf_index } of rows) leaves.set(payment_key, leaf_index);
  for (const { payment_key, leaf_index } of collected) {
    if (payment_key === null) continue;
    const first = leaves.get(payment_key);
    if (first !== undefined) throw new PaymentUsedTwice({ payment_key, first, second: leaf_index });
    leaves.set(payment_key, leaf_index);
  }
}
