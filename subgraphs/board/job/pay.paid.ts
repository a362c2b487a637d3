import { type AtomicAmount, atomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import { agentId } from '../../../schema/ids.ts';
import { legLimits } from '../../../schema/limits.ts';
import type { NetworkName } from '../../../schema/network.ts';
import type { Context } from '../../context.ts';
import type { Leg, Payer, Stamp, TwoLegs } from '../../sale.ts';
import { boardStamp } from '../stamp.ts';
import type { BoardJob } from './job.entity.ts';
import { deliverySlot, feeSlot, isSameLegs, type JobLegs, legSlot } from './legs.ts';
import { markLegOne, markPaid, payableJob, unmarkLegOne } from './mark-paid.ts';
import { findHeldLeg, outputNamed, type PayArgs, type PayoutFact } from './payout-fact.ts';
import { payoutRow } from './payout-row.ts';
import { requireOutput } from './refuse.ts';

/** Result of the second payment: the job is paid and has a receipt. */
export interface PaidJob extends JsonObject {
  readonly job_id: string;
  /** Task id of the receipt of both payments. */
  readonly task_id: string;
}

/** What the terms of a payment for a job depend on: its two payments, its current delivery, and the URL of the request. */
interface LegTerms {
  readonly legs: JobLegs;
  readonly delivery: Pick<BoardJob, 'jobId' | 'deliveriesRetired'>;
  readonly resource: string | undefined;
}

const what = {
  job_kind: 'other',
  stand_ins: [],
  route: boardStamp.route,
  slot_taken: 'job_leg_in_flight',
  slot_retry_seconds: legLimits.retry_seconds,
  validity_seconds_max: legLimits.validity_seconds_max,
  book: async ({ agent_id }: PayArgs) => agent_id,
} as const;

/** Both payments of a job, priced for one request. */
export function jobPayment(
  job_id: string,
  asked: LegTerms,
  { brought, refused }: Pick<TwoLegs<PayArgs, PaidJob>, 'brought' | 'refused'>,
): TwoLegs<PayArgs, PaidJob> {
  const legs = { slot: legSlot(job_id), first: winnersLeg(asked), second: feeLeg(asked) };
  return { ...legs, brought, refused, brought_already: 'job_already_paid' };
}

/**
 * The payment to the winner, at the price of the bid. It reserves the amounts of both payments on the poster's book, and the policy of that
 * book is not checked before this payment. `asked` is null in the list of paid operations, because a price is known only for a request.
 */
export function winnersLeg(asked: LegTerms | null): Leg<PayArgs> {
  return {
    ...what,
    order: 'leg',
    field: 'Mutation.payJob',
    offered_as: 'The first payment of a job: to its winner, at the price of the bid',
    ...(asked ? { ...offerOf(asked.legs.winner), resource: asked.resource } : unpriced),
    ...(asked && { pay_to: asked.legs.winner.pay_to, reserved_atomic: bothOf(asked.legs) }),
    reserves: true,
    slots: ({ job_id }) => [legSlot(job_id), ...(asked ? [deliverySlot(asked.delivery)] : [])],
    admit: (args, payer, context) => requireAsPicked(asked, args, payer, context),
    onHold: (tx, { job_id }, kept) => markLegOne(tx, job_id, kept),
    onRelease: (tx, { job_id }, task_id) => unmarkLegOne(tx, job_id, task_id),
    second_slot: ({ job_id }) => feeSlot(job_id),
  };
}

/**
 * The payment to this service: a stamp and one per cent of the price. The fact that it finds is the first payment, which is held. `asked`
 * is null in the list of paid operations.
 */
export function feeLeg(asked: LegTerms | null): Stamp<PayArgs, PaidJob, PayoutFact> {
  return {
    ...what,
    order: 'stamp',
    chained: 'on_book',
    after_first: true,
    field: 'Mutation.payJob.fee',
    offered_as: 'The second payment of a job: its fee, a stamp and one per cent of the price',
    ...(asked
      ? { ...offerOf({ ...asked.legs.fee, network: asked.legs.winner.network }), resource: asked.resource }
      : unpriced),
    reserves: false,
    slots: ({ job_id }) => [feeSlot(job_id)],
    find: (args, _payer, context) => findHeldLeg(args, context),
    row: (args, fact, stamped) => payoutRow(args, fact, stamped),
    async commit(tx, { job_id }, { payment_ref, recorded_at_ms }, fact) {
      if (fact === null) throw new Error(`${job_id} was paid without what it is to record`);
      await markPaid(tx, job_id, { task_id: fact.leg.task_id, fee_ref: payment_ref, at_ms: recorded_at_ms });
      return { job_id, task_id: fact.leg.task_id };
    },
  };
}

const unpriced = { price_atomic: null, networks: ['base', 'solana'] } as const;

function offerOf({ amount_atomic, network }: { amount_atomic: AtomicAmount; network: NetworkName }) {
  return { price_atomic: amount_atomic, networks: [network] } as const;
}

function bothOf({ winner, fee }: JobLegs): AtomicAmount {
  return atomicAmount(winner.amount_atomic + fee.amount_atomic);
}

/**
 * Checks that the terms of the payment are still those of the job. Payee, price and network are fixed by the pick. They and the delivery
 * are compared once more when the payment is claimed; from then on the slot of the delivery prevents a replacement.
 * @throws not_a_party, job_state_conflict, job_output_differs, payer_is_payee
 */
async function requireAsPicked(
  asked: LegTerms | null,
  args: PayArgs,
  payer: Payer | null,
  context: Context,
): Promise<void> {
  const { job, legs } = await payableJob(context.database, args.job_id);
  if (agentId(job.agentId) !== args.agent_id) throw new Refusal('not_a_party');
  requireOutput(job, outputNamed(args));
  const is_as_asked =
    asked === null || (isSameLegs(asked.legs, legs) && asked.delivery.deliveriesRetired === job.deliveriesRetired);
  if (!is_as_asked) throw new Refusal('job_state_conflict', { facts: { charged: false } });
  const { pay_to, network } = legs.winner;
  const spelt = (address: string) => (network === 'base' ? address.toLowerCase() : address);
  if (payer && spelt(payer.wallet) === spelt(pay_to))
    throw new Refusal('payer_is_payee', { facts: { charged: false } });
}
