import type { ObservedTransfer } from '../../../schema/observed-transfer.ts';
import type { Database } from '../../database.ts';
import { paymentKey } from '../verify/map-proof.ts';

/**
 * Whether a transfer backs a receipt of this service, or may yet: it may have gone to a treasury of before, for a call that landed
 * on no book or on another's. By its key, as far as totals have followed the log; of what is behind them by its payer; by what
 * was seen since it was signed and waits to be counted; and by the payer's open payments to that payee, of which the
 * chain has not had its last word.
 */
export async function isOwnTransfer(
  database: Pick<Database, 'query'>,
  { network, transaction, index, payer, pay_to }: ObservedTransfer,
): Promise<boolean> {
  // One block is one transfer there, and nobody pays for a call by it.
  if (index === null) return false;
  const ref = `${network}:${transaction}`;
  const found = await database.query({
    name: 'receipt or claim of a transfer',
    text: `select 1 from totals_row where payment_key = $1
      union all select 1 from receipt where payer_wallet = $2 and payment_ref = $3
        and leaf_index >= (select tree_size from totals_state)
        and coalesce((payload::jsonb#>>'{payment,transfer_index}')::int, $4::int) = $4
      union all select 1 from totals_seen where not counted and payment_ref = $3 and coalesce(transfer_index, $4::int) = $4
      union all select 1 from payment_claim where payer = $2 and ${TO_PAYEE} and state in ('claimed', 'settling')
      union all select 1 from payment_claim where state = 'released' and not final and payer = $2 and ${TO_PAYEE}
      union all select 1 from payment_claim where arrival = 'pending' and payer = $2 and ${TO_PAYEE}
      limit 1`,
    values: [paymentKey({ network, payment_ref: ref, transfer_index: index }), payer, ref, index, pay_to],
  });
  return found.length > 0;
}

/** Each beside the condition of an index of its own. */
const TO_PAYEE = `lower("authorization"->>'pay_to') = lower($5)`;
