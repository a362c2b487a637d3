import { expect } from 'vitest';
import { TRANSFER_INDEX } from '../../../gateway/rails/solana/transfer.ts';
import type { ProofOutcome } from '../../../schema/receipt-payload.ts';
import type { ReceiptPayment } from '../../../schema/receipt-shapes.ts';
import { auditBooks } from './audit-books.ts';
import { auditLog } from './audit-log.ts';
import { auditRefusals } from './audit-refusals.ts';
import type { Ground } from './ground.ts';

interface ReceiptRow {
  readonly task_id: string;
  readonly payload: string;
  readonly agent_id: number | null;
  readonly proof_outcome: ProofOutcome;
  /** Reference of the transfer, if it was not known when the receipt was signed. */
  readonly ingress_receipt: { readonly ref: string } | null;
}

/**
 * Compares the chain's list of transfers with the database. Regardless of which process died and when, both must contain the same
 * transfers, each once, and neither the books nor the log may have a gap or a second history. Returns the number of transfers.
 */
export async function audit(ground: Ground): Promise<number> {
  const { database } = ground;
  const transfers = await movedOn(ground);
  const receipts = await database.query<ReceiptRow>({
    text: 'select task_id, payload, agent_id, proof_outcome, ingress_receipt from receipt',
  });
  const proven = receipts.filter(({ proof_outcome }) => proof_outcome === 'settled');
  expect(proven.map(receipt => paymentOf(receipt, transfers)).sort()).toEqual(
    transfers.map(({ ref, index, from, amount_atomic }) => `${ref} ${index} ${from} ${amount_atomic}`).sort(),
  );

  const rows = await database.query<{ task_id: string }>({
    text: `select task_id from book_row where evidence <> 'policy_blocked'`,
  });
  const opening = await database.query<{ task_id: string }>({ text: 'select task_id from agent' });
  const opened_a_book = new Set(opening.map(it => it.task_id));
  // A receipt of a registration is the first row of the new book, although it names no book.
  const landed = receipts.filter(({ agent_id, task_id }) => agent_id !== null || opened_a_book.has(task_id));
  expect(rows.map(it => it.task_id).sort()).toEqual(landed.map(it => it.task_id).sort());

  const recorded = await database.query<{ task_id: string }>({
    text: `select task_id from payment_claim where state = 'recorded'`,
  });
  // The remaining receipts were authorised by a key instead of a payment, so they have no claim.
  const paid = receipts.filter(({ proof_outcome }) => proof_outcome !== 'none');
  expect(recorded.map(it => it.task_id).sort()).toEqual(paid.map(it => it.task_id).sort());

  await auditBooks(database);
  await auditRefusals(database);
  await auditLog(database, ground.saved_head);
  return transfers.length;
}

interface MovedTransfer {
  readonly ref: string;
  /** Index of the transfer within its block on Base, or within its transaction on Solana. */
  readonly index: number;
  readonly from: string;
  readonly amount_atomic: bigint;
}

/** Transfers to the service on all of its networks. */
async function movedOn({ chain, solana, pay_to }: Ground): Promise<MovedTransfer[]> {
  const on_base = (await chain.transfers(pay_to)).map(({ tx_hash, log_index, ...moved }) => ({
    ...moved,
    ref: `base:${tx_hash}`,
    index: log_index,
  }));
  const landed = solana ? await solana.svm.transfers(solana.treasury) : [];
  const on_solana = landed.map(({ signature, ...moved }) => ({
    ...moved,
    ref: `solana:${signature}`,
    index: TRANSFER_INDEX,
  }));
  return [...on_base, ...on_solana];
}

function paymentOf({ payload, ingress_receipt }: ReceiptRow, transfers: readonly MovedTransfer[]): string {
  const { payment } = JSON.parse(payload) as { payment: ReceiptPayment };
  const ref = ingress_receipt?.ref ?? payment.ref;
  // An address of Base is the same in upper and lower case. One of Solana is not.
  const payer = ref.startsWith('base:') ? payment.payer.toLowerCase() : payment.payer;
  const seen = transfers.find(transfer => transfer.ref === ref && transfer.from === payer);
  return `${ref} ${payment.transfer_index ?? seen?.index} ${payer} ${payment.settled_amount}`;
}
