import { atomicAmount } from '../../../schema/amount.ts';
import { unknownFacts } from '../../../schema/book-row.ts';
import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import { foreignRef, type ObservedTransfer } from '../../../schema/observed-transfer.ts';
import { attributeTo } from '../../../schema/output-commitment.ts';
import type { StampedRow } from '../../stamped-row.ts';
import type { IngestArgs, IngestFact } from './find.ts';
import { type ForeignSpend, spendOf } from './spend.ts';

/* Makes the row of a payment to others and the claims of its receipt from the request and the sealed facts alone. */

/**
 * If the payer is unproven, the amount is only in `facts`, so that no sum counts it on any book. The row then has no
 * `transfer_index` either, because a book can have only one row per transfer.
 */
export function ingestedRow(
  args: IngestArgs,
  { task_id, transfer, payer_proven, merchant_signed }: IngestFact,
): StampedRow {
  const spend = spendOf(args);
  const { job_kind, hub, model, intent_id, attempt_index } = spend;
  const { index, rail, amount, payer, pay_to } = transfer;
  const counted = payer_proven
    ? { collected: true, amount: atomicAmount(BigInt(amount)), transfer_index: index }
    : { collected: false, amount: null, transfer_index: null };
  const { description } = spend;
  return {
    task_id,
    agent_id: args.agent_id,
    birth: {
      ...unknownFacts,
      ...counted,
      task_id,
      rail,
      model,
      hub,
      intent_id,
      attempt_index,
      evidence: 'foreign_ingest',
      settled_by: 'observed_transfer',
      arrival_status: 'confirmed',
      payment_ref: foreignRef(transfer),
      payer_wallet: payer,
      fulfillment: { ...intentOf(spend), output_commitment: commitmentOf(spend) },
      facts: present({
        payer_proven,
        merchant_signed: merchant_signed || undefined,
        pay_to,
        observed_amount: payer_proven ? undefined : amount,
        description: description ?? undefined,
      }),
    },
    receipt: {
      hub: hub ?? '',
      model: model ?? '',
      job_kind,
      intent_id,
      attempt_index,
      fulfillment: envelopeOf(spend, transfer),
      money: { kind: 'observed', observed_transfer: transfer, payer_proven },
    },
    reserved_atomic: atomicAmount(0n),
    also_on: [],
    sibling: null,
  };
}

/** Fulfillment in the same form as that of a paid job. It states who authorized what. */
export function envelopeOf(spend: ForeignSpend, transfer: ObservedTransfer) {
  const authorization = { payer_wallet: transfer.payer, delegation_hash: null, payment_ref: foreignRef(transfer) };
  return { intent: intentOf(spend), authorization, output_commitment: commitmentOf(spend) } satisfies JsonObject;
}

/** Commitment as the payer states it. This service has not seen what was delivered. */
const commitmentOf = ({ output_commitment }: ForeignSpend) => attributeTo('reporter', output_commitment);

function intentOf({ job_kind, resource, intent_id, attempt_index }: ForeignSpend) {
  return { job_kind, resource, intent_id, attempt_index };
}
