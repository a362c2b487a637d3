import type { Database, Tx } from '../../database.ts';
import type { SeenArrival } from '../claim/doubt.ts';
import { isSignedPayee, type PaymentIndex } from '../receipt/own-transfer.ts';
import { paymentKey } from '../verify/map-proof.ts';

/* Finds the receipts in the log that payments back, notes payments that were seen later, and reads how many leaves the totals count. */

/** A receipt whose payment is this transfer. */
export interface BackedReceipt {
  readonly task_id: string;
  /** Book of the receipt's row. Null if the receipt has no row. */
  readonly agent_id: number | null;
  /** The seq of that row. Null if the receipt has no row. */
  readonly book_seq: number | null;
  readonly tx_hash: string;
  readonly transfer_index: number;
}

interface TransferRow {
  readonly tx_hash: string;
  readonly log_index: number;
}

/** The receipts, of any book, that these transfers on Base back. Only leaves that the totals count are searched. */
export async function receiptsOfTransfers(
  database: Pick<Database, 'query'>,
  transfers: readonly TransferRow[],
): Promise<BackedReceipt[]> {
  const named = new Map(transfers.map(transfer => [keyOf(transfer), transfer]));
  const found = await database.query<Omit<BackedReceipt, 'tx_hash' | 'transfer_index'> & { payment_key: string }>({
    name: 'receipts of transfers',
    text: `select t.payment_key, t.task_id, r.agent_id, r.book_seq
      from totals_row t join receipt r using (task_id) where t.payment_key = any($1)`,
    values: [[...named.keys()]],
  });
  return found.flatMap(({ payment_key, ...receipt }) => {
    const transfer = named.get(payment_key);
    return transfer ? [{ ...receipt, tx_hash: transfer.tx_hash, transfer_index: transfer.log_index }] : [];
  });
}

function keyOf({ tx_hash, log_index }: TransferRow): string {
  return paymentKey({ network: 'base', payment_ref: `base:${tx_hash}`, transfer_index: log_index });
}

/** Number of leaves of the log that the totals count. The payments of later leaves are not in the totals yet. */
export async function countedLeaves(database: Pick<Database, 'query'>): Promise<number> {
  const [state] = await database.query<{ tree_size: number }>({
    name: 'leaves that totals followed',
    text: 'select tree_size from totals_state',
  });
  return state?.tree_size ?? 0;
}

/**
 * Condition for a seen transfer without an index: the payer and the payee are compared, because other transfers may be in the same
 * transaction. Without an index it has no key either, so it is searched for even after it was counted.
 */
const IS_BETWEEN = `r.payer_wallet = $4 and ${isSignedPayee('$5')}`;

/** Finds payments that the totals count, by their keys, and payments that were seen after they were signed and are not counted yet. */
export function indexPayments(database: Pick<Database, 'query'>): PaymentIndex {
  return {
    async look({ network, transaction, index, payer, pay_to }) {
      const payment_ref = `${network}:${transaction}`;
      const [seen] = await database.query<{ found: boolean; followed: number }>({
        name: 'payment in totals',
        text: `select tree_size as followed,
            exists (select 1 from totals_row where payment_key = $1)
            or exists (select 1 from totals_seen where not counted and payment_ref = $2 and transfer_index = $3)
            or exists (select 1 from totals_seen s join receipt r using (task_id)
              where s.payment_ref = $2 and s.transfer_index is null and ${IS_BETWEEN}) as found
          from totals_state`,
        values: [paymentKey({ network, payment_ref, transfer_index: index }), payment_ref, index, payer, pay_to],
      });
      return seen ?? { found: false, followed: 0 };
    },
  };
}

/** Notes that a transfer was seen that was only vouched for when its receipt was signed, so that the totals count it. */
export function noteTransfer(tx: Tx, { task_id, payment_ref, transfer_index }: SeenArrival): void {
  tx.write({
    name: 'note seen transfer',
    text: `insert into totals_seen (task_id, payment_ref, transfer_index) values ($1, $2, $3) on conflict do nothing`,
    values: [task_id, payment_ref, transfer_index],
  });
}

/** The number of leaves that the totals count, and whether one payment backs two receipts (1) or not (0). */
interface TotalsFigures {
  readonly leaves: number;
  readonly conflicts: 0 | 1;
}

export async function totalsFigures(database: Pick<Database, 'query'>): Promise<TotalsFigures> {
  const [found] = await database.query<{ leaves: number; conflict: boolean }>({
    name: 'totals figures',
    text: 'select tree_size as leaves, conflict is not null as conflict from totals_state',
  });
  return { leaves: found?.leaves ?? 0, conflicts: found?.conflict ? 1 : 0 };
}
