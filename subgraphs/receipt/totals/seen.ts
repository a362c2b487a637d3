import type { Tx } from '../../database.ts';
import type { SeenArrival } from '../claim/arrival.ts';

/** A transfer that was only vouched for when its receipt was signed, where it was seen since: from now on it counts. */
export function noteSeen(tx: Tx, { task_id, payment_ref, transfer_index }: SeenArrival): void {
  tx.write({
    name: 'note seen transfer',
    text: `insert into totals_seen (task_id, payment_ref, transfer_index) values ($1, $2, $3) on conflict do nothing`,
    values: [task_id, payment_ref, transfer_index],
  });
}
