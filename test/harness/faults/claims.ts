import type { FaultPoint } from '../../../gateway/operations/faults.ts';
import type { Database } from '../../../subgraphs/database.ts';
import type { ClaimState } from '../../../subgraphs/receipt/claim/claim.machine.ts';
import { eventually } from './ground.ts';

export interface StandingClaim {
  readonly state: ClaimState;
  readonly task_id: string;
  /** Counts how often the claim has changed hands. */
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

/** Nobody holds the payment any more: it is recorded, or usable again. */
export function closed(ground: { database: Database }, order: { claim_key: string }): Promise<StandingClaim> {
  return eventually('the claim recorded or released', async () => {
    const claim = await claimOf(ground, order);
    return claim?.state === 'recorded' || claim?.state === 'released' ? claim : null;
  });
}

export async function allClosed({ database }: { database: Database }): Promise<void> {
  const text = `select count(*)::int as open from payment_claim where state in ('claimed', 'settling')`;
  await eventually('no claim open', async () => {
    const [row] = await database.query<{ open: number }>({ text });
    return row?.open === 0 || null;
  });
}

/** What the payment is after the death of its process: usable again where nothing was committed to be sent. */
export const deaths: readonly [point: FaultPoint, left: 'released' | 'recorded'][] = [
  ['after_claim', 'released'],
  ['after_work', 'released'],
  ['after_settling', 'recorded'],
  ['after_broadcast', 'recorded'],
  ['before_record', 'recorded'],
  ['after_record', 'recorded'],
];
