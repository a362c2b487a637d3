import type { z } from 'zod';
import { JobBidNoun, type JobState, PostedJobNoun } from '../../../schema/board/job.ts';
import { camel, toCamelKeys, toSnakeKeys } from '../../../schema/camel.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { memberShape } from '../../../schema/noun-shape.ts';
import type { BoardContext } from '../context.ts';
import type { BoardBid } from './bid.entity.ts';
import type { FoundJob } from './find.ts';
import type { BoardJob } from './job.entity.ts';
import { jobStateBy } from './job.machine.ts';
import type { ShownBid, ShownJob, ShownLeg } from './job.type.ts';
import { legsOf } from './legs.ts';

/* How jobs and bids are shown, and how they are stored as the answer to the stamp that paid for them. */

/**
 * Whether a job is shown as delivered. A revealed output is delivered. An output of which only the hash was delivered counts as delivered
 * until the poster challenges it.
 */
export function isDelivered({
  state,
  deliveredAt,
  challengedAt,
}: Pick<BoardJob, 'state' | 'deliveredAt' | 'challengedAt'>) {
  const revealed: JobState = 'closed';
  return deliveredAt !== null && (challengedAt === null || state === revealed);
}

/** The job in its current state. The state is computed, because the round that records expiries runs only every few seconds. */
export function jobView({ job, overdue, under_way }: Omit<FoundJob, 'past_deadline'>): ShownJob {
  const {
    state,
    budgetAtomic,
    priceAtomic,
    endsAt: _ends,
    hidden: _hidden,
    deliveriesRetired: _retired,
    ...facts
  } = job;
  const { refusals } = job;
  const [status, delivered] = [jobStateBy({ state, overdue, refusals }), isDelivered(job)];
  return { ...facts, status, delivered, budget: budgetAtomic, price: priceAtomic, underWay: under_way };
}

export function bidView({ state, priceAtomic, toldAt: _told, ...bid }: BoardBid): ShownBid {
  return { ...bid, status: state, price: priceAtomic };
}

/** The legs of a job, from the members of the job alone. Both are paid on the same network, the fee to the treasury of that network. */
export function legViews(job: ShownJob, treasuries: BoardContext['treasuries']): readonly ShownLeg[] {
  const legs = legsOf({ priceAtomic: job.price, network: job.network, payTo: job.payTo });
  if (legs === null) return [];
  const { network, pay_to, amount_atomic } = legs.winner;
  const standing = (paid: boolean, next: boolean) => (paid ? 'settled' : next && job.underWay ? 'settling' : 'unpaid');
  const [winner_paid, fee_paid] = [job.legOneTaskId !== null, job.payoutTaskId !== null];
  return [
    {
      leg: 'winner',
      network,
      payTo: pay_to,
      outputSha256: job.outputSha256,
      amount: amount_atomic,
      status: standing(winner_paid, true),
      paymentRef: job.legOnePaymentRef,
    },
    {
      leg: 'fee',
      network,
      payTo: treasuries[network] ?? null,
      outputSha256: job.outputSha256,
      amount: legs.fee.amount_atomic,
      status: standing(fee_paid, winner_paid),
      paymentRef: job.feePaymentRef,
    },
  ];
}

/** A view as plain JSON with the names of the wire, the form in which an answer is encrypted. */
export function sealable(view: ShownJob | ShownBid): JsonObject {
  const written: JsonObject = JSON.parse(
    JSON.stringify(view, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
  );
  return toSnakeKeys(written) as JsonObject;
}

const scalars = new Map(
  Object.entries<z.ZodType>({ ...PostedJobNoun.shape, ...JobBidNoun.shape }).map(
    ([member, shape]) => [camel(member), memberShape(shape).meta.scalar] as const,
  ),
);

/** Restores the job or bid from an encrypted answer, as it was when it was recorded, whatever has changed since. */
export function unsealAnswer<V extends ShownJob | ShownBid>(answer: JsonObject): V {
  const members = Object.entries(toCamelKeys(answer) as Record<string, unknown>).map(([name, value]) => {
    if (typeof value !== 'string') return [name, value];
    const scalar = scalars.get(name);
    if (scalar === 'AtomicAmount') return [name, BigInt(value)];
    return [name, scalar === 'DateTime' ? new Date(value) : value];
  });
  return Object.fromEntries(members) as V;
}
