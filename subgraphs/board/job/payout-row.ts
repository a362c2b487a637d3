import { atomicAmount } from '../../../schema/amount.ts';
import { type InitialFacts, unknownFacts } from '../../../schema/book-row.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { foreignRef, type ObservedTransfer } from '../../../schema/observed-transfer.ts';
import { outputCommitmentOf } from '../../../schema/output-commitment.ts';
import type { ReceiptLeg, ReceiptPayment } from '../../../schema/receipt-shapes.ts';
import { BOARD_MODEL, STAMPED_BY } from '../../../schema/route-words.ts';
import { paymentFactsBy } from '../../book/ledger/adopt-receipt.ts';
import type { StampContext } from '../../sale.ts';
import type { StampedRow } from '../../stamped-row.ts';
import type { PayArgs, PayoutFact } from './payout-fact.ts';

/*
 * The rows of a paid job, and the content of their one receipt. Pure: made from the request, from the facts that were encrypted with it,
 * and from the transfer of the second payment.
 */

/**
 * The poster's book gets a row of the payment to the winner. The winner's book gets a row of the same payment without an amount, because
 * income is not part of any sum of spending and counts against no limit. The fee has its own row, that of its stamp.
 */
export function payoutRow(
  { agent_id }: PayArgs,
  fact: PayoutFact,
  { transfer: fee }: Omit<StampContext, 'recorded_at_ms'>,
): StampedRow {
  if (fee === null) throw new Error(`${fact.leg.task_id} was paid for in two, and the second has not moved`);
  const { task_id, transfer, payment_id, reserved_atomic, claim_key } = fact.leg;
  const amount = atomicAmount(BigInt(transfer.amount));
  const birth = initialFactsOf(fact);
  return {
    task_id,
    agent_id,
    birth: { ...birth, amount },
    reserved_atomic: atomicAmount(BigInt(reserved_atomic)),
    also_on: [{ agent_id: fact.winner_agent_id, birth: incomeOf(birth, agent_id, transfer.amount) }],
    sibling: claim_key,
    receipt: {
      hub: STAMPED_BY,
      model: BOARD_MODEL,
      job_kind: 'other',
      intent_id: null,
      attempt_index: null,
      fulfillment: envelopeOf(fact),
      money: {
        kind: 'paid',
        payment: paymentOf(transfer, payment_id),
        legs: [legOf('payee', transfer), legOf('fee', fee)],
      },
    },
  };
}

function initialFactsOf(fact: PayoutFact): InitialFacts {
  const { task_id, transfer } = fact.leg;
  return {
    ...unknownFacts,
    ...paymentFactsBy.observed_transfer,
    task_id,
    payment_ref: foreignRef(transfer),
    transfer_index: transfer.index,
    rail: transfer.rail,
    payer_wallet: transfer.payer,
    model: BOARD_MODEL,
    hub: STAMPED_BY,
    fulfillment: { ...intentOf(fact), output_commitment: commitmentOf(fact) },
    facts: { pay_to: transfer.pay_to },
  };
}

/** Facts of the row on the winner's book: the paying agent, and the observed amount in place of the amount. */
function incomeOf(birth: InitialFacts, paid_by_agent: AgentId, observed_amount: string): InitialFacts {
  return { ...birth, amount: null, facts: { ...birth.facts, paid_by_agent, observed_amount } };
}

/** The paid-job envelope: the intent, its authorization, and the committed output. */
function envelopeOf(fact: PayoutFact): JsonObject {
  const { payer, network, transaction } = fact.leg.transfer;
  const payment_ref = foreignRef({ network, transaction });
  const authorization = { payer_wallet: payer, delegation_hash: null, payment_ref };
  return { intent: intentOf(fact), authorization, output_commitment: commitmentOf(fact) };
}

function intentOf({ resource }: PayoutFact): JsonObject {
  return { job_kind: 'other', resource, intent_id: null, attempt_index: null };
}

/** The hash to which the winner has committed by the delivery. Only the reveal shows whether the output has that hash. */
function commitmentOf({ output_sha256 }: PayoutFact): JsonObject {
  return outputCommitmentOf('winner', output_sha256);
}

function paymentOf(
  { network, asset, payer, pay_to, amount, ...place }: ObservedTransfer,
  payment_id: string,
): ReceiptPayment {
  const ref = foreignRef({ network, transaction: place.transaction });
  return {
    ref,
    transfer_index: place.index,
    network,
    asset,
    rail: 'usdc',
    gross_amount: amount,
    settled_amount: amount,
    payer,
    pay_to,
    payment_id,
  };
}

function legOf(
  leg: ReceiptLeg['leg'],
  { network, transaction, index, asset, payer, pay_to, amount }: ObservedTransfer,
) {
  return {
    leg,
    ref: foreignRef({ network, transaction }),
    transfer_index: index,
    network,
    asset,
    payer,
    pay_to,
    amount,
  };
}
