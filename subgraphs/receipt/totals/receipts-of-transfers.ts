import type { Database } from '../../database.ts';
import { paymentKey } from '../verify/map-proof.ts';

/** A receipt whose payment is this very transfer. */
export interface BackedReceipt {
  readonly task_id: string;
  /** The book that its row stands on, and where; null where it has none. */
  readonly agent_id: number | null;
  readonly book_seq: number | null;
  readonly tx_hash: string;
  readonly transfer_index: number;
}

interface Named {
  readonly tx_hash: string;
  readonly log_index: number;
}

/** Of transfers on Base the receipts that they back, whosoever's: as far as the log was followed. */
export async function receiptsOfTransfers(
  database: Pick<Database, 'query'>,
  transfers: readonly Named[],
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

function keyOf({ tx_hash, log_index }: Named): string {
  return paymentKey({ network: 'base', payment_ref: `base:${tx_hash}`, transfer_index: log_index });
}

/** How many leaves were followed: of those behind them it is not known yet which payments they are of. */
export async function leavesFollowed(database: Pick<Database, 'query'>): Promise<number> {
  const [state] = await database.query<{ tree_size: number }>({
    name: 'leaves that totals followed',
    text: 'select tree_size from totals_state',
  });
  return state?.tree_size ?? 0;
}
