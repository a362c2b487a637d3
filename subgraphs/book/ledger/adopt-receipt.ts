import { nothingKnown, type RowBirth } from '../../../schema/book-row.ts';
import { type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { type SettledBy, settlementBasis } from '../../../schema/receipt-payload.ts';
import type { ReceiptPayload, ReceiptPayment } from '../../../schema/receipt-shapes.ts';
import type { Tx } from '../../database.ts';
import type { Receipt } from '../../receipt/receipt/receipt.entity.ts';
import { append } from './append-births.ts';
import { type Arrival, arrive } from './arrive.ts';

/** What a row says of its money as it is born, by what its settlement rests on. */
export const bornBy = {
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
} as const satisfies Record<SettledBy, Partial<RowBirth>>;

/**
 * The collected receipt that a book is opened by becomes its first row: born as it would have been had the book stood
 * then, at the time of its receipt, and counted. What was signed stays as it is: the receipt names no book. One that
 * stands on a book already is nobody else's row. Nothing can be told of it: a book that opens has neither cap nor budget nor habit.
 */
export async function adoptReceipt(tx: Tx, agent_id: AgentId, receipt: Receipt): Promise<void> {
  if (receipt.agentId !== null) return;
  await append(tx, [{ agent_id, birth: birthOf(receipt), owed: true, at_ms: receipt.collectedAt.getTime() }]);
  // What was vouched for when it was signed has been seen since, or it would open no book.
  if (receipt.ingressReceipt !== null) await arrive(tx, [arrivalOf(receipt.taskId, receipt.ingressReceipt)]);
}

/**
 * What was handed to an agent, and redeemed by it, is a row of its book: of no payment and no amount. It follows from the
 * receipt that was handed on, whose row is on another book; of that book it says nothing else. It backs nothing. @throws book_damaged
 */
export async function adoptHandOff(tx: Tx, agent_id: AgentId, { taskId: task_id, payload }: Receipt): Promise<void> {
  const { hub, model, fulfillment, parent_receipt_id } = JSON.parse(payload) as ReceiptPayload;
  const { intent, output_commitment } = fulfillment;
  const parent_ref = parent_receipt_id ?? null;
  const row = { task_id, model, hub, parent_ref, fulfillment: { ...intent, output_commitment }, facts: {} };
  await append(tx, [{ agent_id, birth: { ...nothingKnown, ...UNPAID, ...row }, owed: false }]);
}

const UNPAID = { evidence: 'UNVERIFIED', collected: false } as const;

function birthOf({ taskId: task_id, payload, ...receipt }: Receipt): RowBirth {
  const signed = JSON.parse(payload) as ReceiptPayload;
  const { hub, model, fulfillment } = signed;
  const payment = signed.payment as ReceiptPayment;
  const { intent, output_commitment } = fulfillment;
  return {
    ...nothingKnown,
    ...bornBy[settlementBasis(signed) as SettledBy],
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

/** What a row keeps of the model that its hub named: nothing where it named none. */
export function answeredFacts({ answered_model }: JsonObject): JsonObject {
  return typeof answered_model === 'string' ? { answered_model } : {};
}

function arrivalOf(task_id: string, { ref, confirmed_at }: JsonObject): Arrival {
  const text = (said: Json | undefined) => String(said);
  const ingress_receipt = { ref: text(ref), confirmed_at: text(confirmed_at) };
  return { task_id, to: 'collected', ingress_receipt, payment_ref: ingress_receipt.ref };
}
