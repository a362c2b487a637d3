import type { FaultPoint } from '../../../gateway/operations/faults.ts';
import type { Database } from '../../../subgraphs/database.ts';
import type { ClaimState } from '../../../subgraphs/receipt/claim/claim.machine.ts';
import type { MovableClock } from '../movable-clock.ts';
import { eventually, type Ground } from './ground.ts';

export interface StandingClaim {
  readonly state: ClaimState;
  readonly task_id: string;
  /** Number of times that another process has taken over the claim. */
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

/** Waits until no process works on the payment: its claim is recorded, or released so that the payment can be used again. */
export function untilClosed(ground: { database: Database }, order: { claim_key: string }): Promise<StandingClaim> {
  return eventually('the claim recorded or released', async () => {
    const claim = await claimOf(ground, order);
    return claim?.state === 'recorded' || claim?.state === 'released' ? claim : null;
  });
}

/** More blocks than two epochs of the development chain. */
const FINAL_BLOCKS = 8;

/**
 * Lets that many seconds pass for payments: on the service's clock, on the chain's clock, and by moving the expiry times in the database,
 * because the database's clock cannot be moved.
 */
export async function expire(ground: Ground, clock: MovableClock, seconds: number): Promise<void> {
  clock.passForGood(seconds);
  await ground.chain.passTime(seconds);
  // After these blocks it is final that the expired payments are in no block.
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

/** State of a claim after the death of its process. It is released if no transaction for it was committed to be sent. */
export const deaths: readonly [point: FaultPoint, left: 'released' | 'recorded'][] = [
  ['after_claim', 'released'],
  ['after_work', 'released'],
  ['after_settling', 'recorded'],
  ['after_broadcast', 'recorded'],
  ['before_record', 'recorded'],
  ['after_record', 'recorded'],
];
