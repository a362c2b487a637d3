import type { Database } from '../../database.ts';
import type { PaymentIndex } from '../receipt/own-transfer.ts';
import { paymentKey } from '../verify/map-proof.ts';

/** Payments by their keys, as far as totals have followed the log, and those that were seen since they were signed and wait to be counted. */
export function indexPayments(database: Pick<Database, 'query'>): PaymentIndex {
  return {
    async look({ network, transaction, index }) {
      const payment_ref = `${network}:${transaction}`;
      const [seen] = await database.query<{ found: boolean; followed: number }>({
        name: 'payment in totals',
        text: `select tree_size as followed,
            exists (select 1 from totals_row where payment_key = $1)
            or exists (select 1 from totals_seen
              where not counted and payment_ref = $2 and coalesce(transfer_index, $3::int) = $3) as found
          from totals_state`,
        values: [paymentKey({ network, payment_ref, transfer_index: index }), payment_ref, index],
      });
      return seen ?? { found: false, followed: 0 };
    },
  };
}
