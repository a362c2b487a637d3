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
 * Records the receipt that opened a book as the first row of that book. The row has the time of the receipt, as if the book had
 * existed then. The signed receipt names no book and does not change. A receipt that is already on a book stays there. No alerts
 * are judged, because a new book has neither caps nor a budget.
 */
export async function adoptReceipt(tx: Tx, agent_id: AgentId, receipt: Receipt): Promise<void> {
  if (receipt.agentId !== null) return;
  await appendNewRows(tx, [
    { agent_id, birth: initialFactsOf(receipt), owed: true, at_ms: receipt.collectedAt.getTime() },
  ]);
  // A receipt that was recorded at settlement can open a book only after its payment was seen. That arrival is recorded too.
  if (receipt.ingressReceipt !== null) await arrive(tx, [arrivalOf(receipt.taskId, receipt.ingressReceipt)]);
}

/**
 * Records a redeemed hand-off as a row without payment and amount. The parent of the row is the receipt that was handed off. That
 * receipt is on another book, about which the row reveals nothing else. The row is not evidence of a payment.
 * @throws Refusal book_damaged
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

/** Returns the model that the hub named, as a fact of a row. Empty if the hub named none. */
export function answeredFacts({ answered_model }: JsonObject): JsonObject {
  return typeof answered_model === 'string' ? { answered_model } : {};
}

function arrivalOf(task_id: string, { ref, confirmed_at }: JsonObject): Arrival {
  const text = (said: Json | undefined) => String(said);
  const ingress_receipt = { ref: text(ref), confirmed_at: text(confirmed_at) };
  return { task_id, to: 'collected', ingress_receipt, payment_ref: ingress_receipt.ref };
}
