import { type AtomicAmount, atomicAmount } from '../../../schema/amount.ts';
import { limits } from '../../../schema/limits.ts';
import type { NetworkName } from '../../../schema/network.ts';
import { LEG } from '../../receipt/claim/slots.ts';
import type { BoardJob } from './job.entity.ts';

/* The two payments (legs) of a job: the price of the bid to the winner, then a stamp and one per cent of the price to the treasury. */

export interface JobLegs {
  /** Terms of the first payment, fixed when the bid was picked. */
  readonly winner: { readonly network: NetworkName; readonly pay_to: string; readonly amount_atomic: AtomicAmount };
  readonly fee: { readonly amount_atomic: AtomicAmount };
}

type PickedTerms = Pick<BoardJob, 'priceAtomic' | 'network' | 'payTo'>;

/** The two payments of a job. Null for a job without a picked bid. */
export function legsOf({ priceAtomic, network, payTo }: PickedTerms): JobLegs | null {
  if (priceAtomic === null || network === null || payTo === null) return null;
  return {
    winner: { network, pay_to: payTo, amount_atomic: priceAtomic },
    fee: { amount_atomic: feeOf(priceAtomic) },
  };
}

export function isSameLegs(one: JobLegs, other: JobLegs): boolean {
  return (
    one.winner.network === other.winner.network &&
    one.winner.pay_to === other.winner.pay_to &&
    one.winner.amount_atomic === other.winner.amount_atomic &&
    one.fee.amount_atomic === other.fee.amount_atomic
  );
}

/** Fee of a job: a stamp and one per cent of the price, rounded up. */
function feeOf(price: AtomicAmount): AtomicAmount {
  return atomicAmount(limits.stamp_price_atomic + (price + 99n) / 100n);
}

/**
 * Slot of the claim of a job's first leg. The claim holds it for as long as the payment may still move, and the job does not expire
 * meanwhile.
 */
export function legSlot(job_id: string): string {
  return `${LEG}job:${job_id}`;
}

/** Slot of the delivery that a first leg pays for. While the leg's claim holds it, the delivery cannot be replaced. */
export function deliverySlot({ jobId, deliveriesRetired }: Pick<BoardJob, 'jobId' | 'deliveriesRetired'>): string {
  return `${LEG}delivery:${jobId}:${deliveriesRetired}`;
}

/** Slot of the claim of a job's second leg. */
export function feeSlot(job_id: string): string {
  return `job_fee:${job_id}`;
}
