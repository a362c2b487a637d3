import { expect } from 'vitest';
import type { ReceiptPayment } from '../../schema/receipt-payload.ts';
import { auditBooks } from './audit-books.ts';
import { auditLog } from './audit-log.ts';
import type { Ground } from './ground.ts';

interface ReceiptRow {
  readonly task_id: string;
  readonly payload: string;
  readonly agent_id: number | null;
}

/**
 * What a stranger with both in hand would compare: the chain's list of transfers, and what stands in the database.
 * Whatever died when, they say the same, each thing once; and neither books nor log have a gap or a second history.
 * Returns the number of transfers.
 */
export async function audit(ground: Ground): Promise<number> {
  const { chain, database, pay_to } = ground;
  const transfers = await chain.transfers(pay_to);
  const receipts = await database.query<ReceiptRow>({ text: 'select task_id, payload, agent_id from receipt' });
  expect(receipts.map(paymentOf).sort()).toEqual(
    transfers
      .map(({ tx_hash, log_index, from, amount_atomic }) => `${tx_hash} ${log_index} ${from} ${amount_atomic}`)
      .sort(),
  );

  const rows = await database.query<{ task_id: string }>({ text: 'select task_id from book_row' });
  const landed = receipts.filter(({ agent_id }) => agent_id !== null);
  expect(rows.map(it => it.task_id).sort()).toEqual(landed.map(it => it.task_id).sort());

  const recorded = await database.query<{ task_id: string }>({
    text: `select task_id from payment_claim where state = 'recorded'`,
  });
  expect(recorded.map(it => it.task_id).sort()).toEqual(receipts.map(it => it.task_id).sort());

  await auditBooks(database);
  await auditLog(database, ground.saved_head);
  return transfers.length;
}

function paymentOf({ payload }: ReceiptRow): string {
  const { payment } = JSON.parse(payload) as { payment: ReceiptPayment };
  const { ref, transfer_index, payer, settled_amount } = payment;
  return `${ref.replace('base:', '')} ${transfer_index} ${payer.toLowerCase()} ${settled_amount}`;
}
