import { expect } from 'vitest';
import type { ProofOutcome, ReceiptPayment } from '../../schema/receipt-payload.ts';
import type { TransferEvent } from '../harness/chain.ts';
import { auditBooks } from './audit-books.ts';
import { auditLog } from './audit-log.ts';
import { auditRefusals } from './audit-refusals.ts';
import type { Ground } from './ground.ts';

interface ReceiptRow {
  readonly task_id: string;
  readonly payload: string;
  readonly agent_id: number | null;
  readonly proof_outcome: ProofOutcome;
  /** Where the transfer was seen, if that was not known yet when the receipt was signed. */
  readonly ingress_receipt: { readonly ref: string } | null;
}

/**
 * What a stranger with both in hand would compare: the chain's list of transfers, and what stands in the database.
 * Whatever died when, they say the same, each thing once; and neither books nor log have a gap or a second history.
 * Returns the number of transfers.
 */
export async function audit(ground: Ground): Promise<number> {
  const { chain, database, pay_to } = ground;
  const transfers = await chain.transfers(pay_to);
  const receipts = await database.query<ReceiptRow>({
    text: 'select task_id, payload, agent_id, proof_outcome, ingress_receipt from receipt',
  });
  const proven = receipts.filter(({ proof_outcome }) => proof_outcome === 'settled');
  expect(proven.map(receipt => paymentOf(receipt, transfers)).sort()).toEqual(
    transfers
      .map(({ tx_hash, log_index, from, amount_atomic }) => `${tx_hash} ${log_index} ${from} ${amount_atomic}`)
      .sort(),
  );

  const rows = await database.query<{ task_id: string }>({
    text: `select task_id from book_row where evidence <> 'policy_blocked'`,
  });
  const landed = receipts.filter(({ agent_id }) => agent_id !== null);
  expect(rows.map(it => it.task_id).sort()).toEqual(landed.map(it => it.task_id).sort());

  const recorded = await database.query<{ task_id: string }>({
    text: `select task_id from payment_claim where state = 'recorded'`,
  });
  expect(recorded.map(it => it.task_id).sort()).toEqual(receipts.map(it => it.task_id).sort());

  await auditBooks(database);
  await auditRefusals(database);
  await auditLog(database, ground.saved_head);
  return transfers.length;
}

function paymentOf({ payload, ingress_receipt }: ReceiptRow, transfers: readonly TransferEvent[]): string {
  const { payment } = JSON.parse(payload) as { payment: ReceiptPayment };
  const tx_hash = (ingress_receipt?.ref ?? payment.ref).replace('base:', '');
  const payer = payment.payer.toLowerCase();
  const seen = transfers.find(transfer => transfer.tx_hash === tx_hash && transfer.from === payer);
  return `${tx_hash} ${payment.transfer_index ?? seen?.log_index} ${payer} ${payment.settled_amount}`;
}
