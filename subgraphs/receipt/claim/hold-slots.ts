import type { Tx } from '../../database.ts';
import type { Lease } from './claim.ts';
import { slotsMissed } from './slots.ts';

/** `lost`: the claim is somebody else's by now; `taken`: another claim holds one of them. */
export type SlotsHeld = 'held' | 'lost' | 'taken';

/**
 * Further slots for a claim that stands, found out while it was held: taken under its lock, or whoever had taken the claim
 * over and let go of it would have dropped them before. Those of a claim that finds one taken go with its release.
 */
export async function holdSlots(tx: Tx, lease: Lease, slots: readonly string[]): Promise<SlotsHeld> {
  const { rowCount } = await tx.query({
    name: 'hold claim',
    text: `select 1 from payment_claim where claim_key = $1 and lease_owner = $2 and lease_epoch = $3
      and state in ('claimed', 'settling') for update`,
    values: [lease.claim_key, lease.lease_owner, lease.lease_epoch],
  });
  if (rowCount !== 1) return 'lost';
  const missed = await slotsMissed(
    tx,
    slots.map(slot => ({ slot, claim_key: lease.claim_key })),
  );
  return missed.length === 0 ? 'held' : 'taken';
}
