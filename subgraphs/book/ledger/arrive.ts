import type { LaterFacts, MovableFacts } from '../../../schema/book-row.ts';
import { mayBecome } from '../../../schema/evidence.ts';
import type { Tx } from '../../database.ts';
import { countIntents, headOf, storeBooks } from './append.ts';
import { lockBooksOf } from './correct.ts';
import { moveRow, type RowChange, standingRows, storeMoved } from './move-row.ts';

/** Outcome for a call that was recorded at settlement (RECORDED_BY_SETTLE), before its transfer was seen. */
export type Arrival = { readonly task_id: string } & (
  | {
      readonly to: 'collected';
      readonly ingress_receipt: { readonly ref: string; readonly confirmed_at: string };
      /** Payment reference of the transfer that was seen. Absent if it is the one of the row. */
      readonly payment_ref?: string;
      readonly transfer_index?: number;
    }
  /** No transfer was seen by the cutoff. The row loses its amount. */
  | { readonly to: 'ARRIVAL_UNVERIFIED'; readonly omission_rule: string }
);

/**
 * Changes rows that are RECORDED_BY_SETTLE. The columns get the new values, and the `transition` event keeps the original ones, so
 * that the hash of the row can be recomputed. A row that has already changed is left as it is.
 */
export async function arrive(tx: Tx, items: readonly Arrival[]): Promise<void> {
  const arrivals = new Map(items.map(item => [item.task_id, item]));
  const { books, rows } = await lockBooksOf(tx, [...arrivals.keys()]);
  const standing = await standingRows(tx, rows);
  const moved: RowChange[] = [];
  for (const row of standing) {
    const arrival = arrivals.get(row.task_id);
    if (!arrival || !mayBecome(row.evidence, arrival.to)) continue;
    const one = moveRow(headOf(books, row.agent_id), row, born => outcome(born, arrival));
    books.set(row.agent_id, one.head);
    moved.push(one);
  }
  if (moved.length === 0) return;
  storeMoved(tx, moved);
  countIntents(
    tx,
    moved.map(({ after }) => after).filter(row => row.collected),
  );
  storeBooks(
    tx,
    books,
    moved.map(({ event }) => event),
  );
}

function outcome(born: MovableFacts, arrival: Arrival): MovableFacts & LaterFacts {
  if (arrival.to === 'ARRIVAL_UNVERIFIED') {
    const { omission_rule } = arrival;
    const nothing = { evidence: arrival.to, collected: false, amount: null, arrival_status: 'unverified' } as const;
    return { ...born, ...nothing, ingress_receipt: null, omission_rule };
  }
  return {
    ...born,
    evidence: arrival.to,
    collected: true,
    arrival_status: 'confirmed',
    payment_ref: arrival.payment_ref ?? born.payment_ref,
    transfer_index: arrival.transfer_index ?? born.transfer_index,
    ingress_receipt: { ...arrival.ingress_receipt },
    omission_rule: null,
  };
}
