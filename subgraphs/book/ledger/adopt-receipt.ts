import { type InitialFacts, unknownFacts } from '../../../schema/book-row.ts';
import { type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { type SettledBy, settlementBasis } from '../../../schema/receipt-payload.ts';
import type { ReceiptPayload, ReceiptPayment } from '../../../schema/receipt-shapes.ts';
import type { Tx } from '../../database.ts';
import type { Receipt } from '../../receipt/receipt/receipt.entity.ts';
import { appendNewRows } from './append-new-rows.ts';
import { type Arrival, arrive } from './arrive.ts';

/** Payment members of a new row, by the basis of its settlement. */
export const paymentFactsBy = {
  observed_transfer: {
    evidence: 'collected',
    collected: true,
    settled_by: 'observed_transfer',
    recorded_by: null,
    arrival_status: 'confirmed',
  },
  receipt: {
    evidence: 'RECORDED_BY_SETTLE',
    collected: false,
    settled_by: 'receipt',
    recorded_by: 'settle',
    arrival_status: 'pending',
  },
} as const satisfies Record<SettledBy, Partial<InitialFacts>>;

/**
 * Records the receipt that opened a book as its first row: with the time of the receipt, as if the book had existed. The signed
 * receipt names no book and stays as it is. A receipt that is on a book already belongs to that book. There are no alerts, because
 * a new book has neither caps nor budget.
 */
export async function adoptReceipt(tx: Tx, agent_id: AgentId, receipt: Receipt): Promise<void> {
  if (receipt.agentId !== null) return;
  await appendNewRows(tx, [
    { agent_id, birth: initialFactsOf(receipt), owed: true, at_ms: receipt.collectedAt.getTime() },
  ]);
  // A payment that was vouched for has been seen since, otherwise it could not open a book.
  if (receipt.ingressReceipt !== null) await arrive(tx, [arrivalOf(receipt.taskId, receipt.ingressReceipt)]);
}

/**
 * Records a redeemed hand-off as a row without payment and amount. Its parent is the receipt that was handed off, on another book
 * about which it says nothing else. It backs nothing. @throws book_damaged
 */
export async function adoptHandOff(tx: Tx, agent_id: AgentId, { taskId: task_id, payload }: Receipt): Promise<void> {
  const { hub, model, fulfillment, parent_receipt_id } = JSON.parse(payload) as ReceiptPayload;
  const { intent, output_commitment } = fulfillment;
  const parent_ref = parent_receipt_id ?? null;
  const row = { task_id, model, hub, parent_ref, fulfillment: { ...intent, output_commitment }, facts: {} };
  await appendNewRows(tx, [{ agent_id, birth: { ...unknownFacts, ...UNPAID, ...row }, owed: false }]);
}

const UNPAID = { evidence: 'UNVERIFIED', collected: false } as const;

function initialFactsOf({ taskId: task_id, payload, ...receipt }: Receipt): InitialFacts {
  const signed = JSON.parse(payload) as ReceiptPayload;
  const { hub, model, fulfillment } = signed;
  const payment = signed.payment as ReceiptPayment;
  const { intent, output_commitment } = fulfillment;
  return {
    ...unknownFacts,
    ...paymentFactsBy[settlementBasis(signed) as SettledBy],
    task_id,
    payment_ref: receipt.paymentRef,
    transfer_index: payment.transfer_index,
    rail: payment.rail,
    amount: receipt.amount,
    payer_wallet: receipt.payerWallet,
    model,
    hub,
    intent_id: signed.intent_id ?? null,
    attempt_index: signed.attempt_index ?? null,
    fulfillment: { ...intent, output_commitment },
    facts: answeredFacts(signed),
  };
}

/** Facts about the model that the hub named. Empty if it named none. */
export function answeredFacts({ answered_model }: JsonObject): JsonObject {
  return typeof answered_model === 'string' ? { answered_model } : {};
}

function arrivalOf(task_id: string, { ref, confirmed_at }: JsonObject): Arrival {
  const text = (said: Json | undefined) => String(said);
  const ingress_receipt = { ref: text(ref), confirmed_at: text(confirmed_at) };
  return { task_id, to: 'collected', ingress_receipt, payment_ref: ingress_receipt.ref };
}
