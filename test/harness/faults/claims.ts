import type { FaultPoint } from '../../../gateway/operations/faults.ts';
import type { Database } from '../../../subgraphs/database.ts';
import type { ClaimState } from '../../../subgraphs/receipt/claim/claim.machine.ts';
import type { MovableClock } from '../movable-clock.ts';
import { eventually, type Ground } from './ground.ts';

export interface StandingClaim {
  readonly state: ClaimState;
  readonly task_id: string;
  /** Number of processes that have taken over the claim. */
  readonly lease_epoch: number;
  readonly reason: string | null;
}

export async function claimOf(
  { database }: { database: Database },
  { claim_key }: { claim_key: string },
): Promise<StandingClaim | null> {
  const text = 'select state, task_id, lease_epoch, reason from payment_claim where claim_key = $1';
  const [row] = await database.query<StandingClaim>({ text, values: [claim_key] });
  return row ?? null;
}

/** Waits until no process works on the payment any more: it is recorded, or usable again. */
export function untilClosed(ground: { database: Database }, order: { claim_key: string }): Promise<StandingClaim> {
  return eventually('the claim recorded or released', async () => {
    const claim = await claimOf(ground, order);
    return claim?.state === 'recorded' || claim?.state === 'released' ? claim : null;
  });
}

/** More blocks than two of the development chain's epochs have. */
const FINAL_BLOCKS = 8;

/**
 * Lets that many seconds pass for payments: on the service's clock, on the chain's, and in the expiry times that the
 * database keeps, since its own clock cannot be moved.
 */
export async function expire(ground: Ground, clock: MovableClock, seconds: number): Promise<void> {
  clock.passForGood(seconds);
  await ground.chain.passTime(seconds);
  // After these blocks it is final that no block can include the payments any more.
  await ground.chain.mine(FINAL_BLOCKS);
  const text = 'update payment_claim set valid_before = valid_before - $1';
  await ground.database.query({ text, values: [seconds] });
}

export async function untilAllClosed({ database }: { database: Database }): Promise<void> {
  const text = `select count(*)::int as open from payment_claim where state in ('claimed', 'settling')`;
  await eventually('no claim open', async () => {
    const [row] = await database.query<{ open: number }>({ text });
    return row?.open === 0 || null;
  });
}

/** State of a payment after the death of its process: usable again if no transaction was committed to be sent. */
export const deaths: readonly [point: FaultPoint, left: 'released' | 'recorded'][] = [
  ['after_claim', 'released'],
  ['after_work', 'released'],
  ['after_settling', 'recorded'],
  ['after_broadcast', 'recorded'],
  ['before_record', 'recorded'],
  ['after_record', 'recorded'],
];
