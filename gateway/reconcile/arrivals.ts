import { limits } from '../../schema/limits.ts';
import type { NetworkName } from '../../schema/network.ts';
import { type Arrival, arrive } from '../../subgraphs/book/ledger/arrive.ts';
import { iso } from '../../subgraphs/clock.ts';
import { type AwaitedArrival, closeArrival, takeArrivals } from '../../subgraphs/receipt/claim/arrival.ts';
import { setUnsignedFacts } from '../../subgraphs/receipt/receipt/unsigned-facts.ts';
import type { NotTransferred, Transferred } from '../rails/outcome.ts';
import { paymentFromJson } from '../rails/payment.ts';
import { type FinishParts, whileFull } from './finish-claims.ts';

const ARRIVALS_AT_ONCE = 32;

type ArrivalParts = Pick<FinishParts, 'database' | 'railOf' | 'clock' | 'arrived'>;
type Arrived = Extract<Arrival, { to: 'collected' }>;
type Omitted = Extract<Arrival, { to: 'ARRIVAL_UNVERIFIED' }>;

/**
 * Looks for the money of calls that were recorded on a facilitator's word: rows become collected when it is seen, and
 * ARRIVAL_UNVERIFIED when it never can be any more, or the chain has shown none by the cutoff. The receipts' lanes follow.
 */
export function lookForArrivals(parts: ArrivalParts): Promise<void> {
  return whileFull(ARRIVALS_AT_ONCE, () => lookForSome(parts));
}

async function lookForSome(parts: ArrivalParts): Promise<number> {
  const awaited = await takeArrivals(parts.database, limits.arrival_cutoff_seconds, ARRIVALS_AT_ONCE);
  const looks = await Promise.allSettled(awaited.map(one => look(parts, one)));
  const faults = looks.flatMap(done => (done.status === 'rejected' ? [done.reason] : []));
  if (faults.length > 0) throw new AggregateError(faults, `${faults.length} arrivals could not be looked for`);
  return awaited.length;
}

async function look(parts: ArrivalParts, awaited: AwaitedArrival): Promise<void> {
  const outcome = await decide(parts, awaited);
  if (outcome) await close(parts, awaited, outcome);
}

/** Null while it may still be seen. */
async function decide(parts: ArrivalParts, awaited: AwaitedArrival): Promise<Arrived | Omitted | null> {
  const { task_id, from_block, settlement_id, claimed_at } = awaited;
  const payment = paymentFromJson(awaited.authorization);
  const { network } = payment.authorization;
  const rail = parts.railOf({ network });
  const decision = await rail.decide(payment, { settlement_id, from_block, claimed_at });
  if (decision.kind === 'transferred') return arrived(parts, task_id, network, decision);
  if (decision.kind === 'not_transferred' && (await rail.isOver(payment)))
    return omitted(task_id, never[decision.reason]);
  // A node that is away, or contradicts itself, has not said that nothing came.
  if (decision.kind === 'unknown' && decision.reason !== 'not_mined') return null;
  return awaited.past_cutoff ? omitted(task_id, 'no_ingress_receipt_at_cutoff') : null;
}

/** Why the money never came, where the chain says so before the cutoff. */
const never: Record<NotTransferred['reason'], string> = {
  expired: 'authorization_expired_unused',
  reverted: 'authorization_expired_unused',
  cancelled: 'authorization_cancelled',
  used_otherwise: 'authorization_used_otherwise',
};

function arrived(
  parts: ArrivalParts,
  task_id: string,
  network: NetworkName,
  { tx_hash, transfer_index }: Transferred,
): Arrived {
  const payment_ref = `${network}:${tx_hash}`;
  const ingress_receipt = { ref: payment_ref, confirmed_at: iso(parts.clock.now_ms()) };
  return { task_id, to: 'collected', ingress_receipt, payment_ref, transfer_index } as const;
}

function omitted(task_id: string, omission_rule: string): Omitted {
  return { task_id, to: 'ARRIVAL_UNVERIFIED', omission_rule };
}

/** Claim, receipt's lane and row in one transaction, in the order in which locks are taken everywhere. */
function close(parts: ArrivalParts, { claim_key, task_id }: AwaitedArrival, outcome: Arrived | Omitted): Promise<void> {
  const came = outcome.to === 'collected';
  return parts.database.transaction(async tx => {
    if (!(await closeArrival(tx, claim_key, came ? 'confirmed' : 'unverified'))) return;
    setUnsignedFacts(tx, task_id, {
      proof_outcome: came ? 'settled' : 'unverified',
      settled_by: came ? 'observed_transfer' : 'receipt',
      ingress_receipt: came ? outcome.ingress_receipt : null,
      omission_rule: came ? null : outcome.omission_rule,
    });
    if (came) {
      const seen = {
        task_id,
        payment_ref: outcome.ingress_receipt.ref,
        transfer_index: outcome.transfer_index ?? null,
      };
      for (const note of parts.arrived) note(tx, seen);
    }
    await arrive(tx, [outcome]);
  });
}
