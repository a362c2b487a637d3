import { atomicAmount } from '../../../schema/amount.ts';
import type { CommittedOutput } from '../../../schema/output-commitment.ts';
import type { CanonicalInvoice, IngestRequest } from '../../../schema/requests/ingest.ts';
import type { NamedTransfer } from '../../foreign-transfers.ts';

/* Reads from a request the transfer that it names and the purchase that it states. */

/** Purchase as the payer states it. This service has not seen it. */
export interface ForeignSpend {
  readonly job_kind: CanonicalInvoice['job_kind'];
  readonly resource: string | null;
  readonly hub: string | null;
  readonly model: string | null;
  readonly intent_id: string | null;
  readonly attempt_index: number | null;
  readonly output_commitment: CommittedOutput;
  readonly description: string | null;
}

export function namedTransfer(request: IngestRequest): NamedTransfer {
  const { nano, payment_required, payment_response: response, foreign_invoice: invoice } = request;
  if (nano) {
    const { block, recipient, amount } = nano;
    return {
      network: 'nano',
      transaction: block,
      index: null,
      payer: null,
      pay_to: recipient,
      amount_atomic: atomic(amount),
    };
  }
  const index = request.transfer_index;
  if (invoice) {
    const { network, tx, payer, payTo, amount } = invoice;
    return { network, transaction: tx, index, payer, pay_to: payTo, amount_atomic: atomic(amount) };
  }
  if (!payment_required || !response) throw new Error('an ingest names no payment');
  const { network, tx, payer } = response;
  return {
    network,
    transaction: tx,
    index,
    payer,
    pay_to: payment_required.payTo,
    amount_atomic: atomic(payment_required.amount),
  };
}

const nothingSaid: ForeignSpend = {
  job_kind: 'other',
  resource: null,
  hub: null,
  model: null,
  intent_id: null,
  attempt_index: null,
  output_commitment: { status: 'UNVERIFIED', hash: null, kind: null, omission_rule: 'no_deliverable' },
  description: null,
};

export function spendOf({ nano, payment_required, foreign_invoice: invoice }: IngestRequest): ForeignSpend {
  if (nano) return { ...nothingSaid, description: nano.description };
  if (payment_required)
    return { ...nothingSaid, resource: payment_required.resource, hub: hostOf(payment_required.resource) };
  if (!invoice) throw new Error('an ingest names no payment');
  const { job_kind, resource, model, intent_id, attempt_index, output_commitment } = invoice;
  const hub = invoice.hub ?? hostOf(resource);
  return { ...nothingSaid, job_kind, resource, hub, model, intent_id, attempt_index, output_commitment };
}

const atomic = (digits: string) => atomicAmount(BigInt(digits));

/** Host of a URL, as the name of the seller. Null if there is no URL. */
function hostOf(resource: string | null): string | null {
  return resource !== null && URL.canParse(resource) ? new URL(resource).host || null : null;
}
