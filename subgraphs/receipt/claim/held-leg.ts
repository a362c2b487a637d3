import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { Database, Tx } from '../../database.ts';
import type { PaymentClaim } from './claim.entity.ts';
import type { Lease } from './claim.ts';
import { holdSlots, type SlotsHeld } from './hold-slots.ts';
import { claimByKey } from './transitions.ts';

/**
 * Compare-and-set settling → held, with the transfer that moved it: from here on nobody lets go of it. `slot` is the
 * transfer's own, so that nobody records the same one as another's; `taken` where somebody has already, and then nothing is written.
 */
export async function holdLeg(tx: Tx, lease: Lease, transfer: JsonObject, slot: string): Promise<SlotsHeld> {
  const slots = await holdSlots(tx, lease, [slot]);
  if (slots !== 'held') return slots;
  const { rowCount } = await tx.query({
    name: 'hold leg',
    text: `update payment_claim set state = 'held', lease_owner = null, held_transfer = $4, moved_at = now()
      where claim_key = $1 and lease_owner = $2 and lease_epoch = $3 and state = 'settling'`,
    values: [lease.claim_key, lease.lease_owner, lease.lease_epoch, JSON.stringify(transfer)],
  });
  return rowCount === 1 ? 'held' : 'lost';
}

/** The payment that holds a slot, however it stands; null where none does. */
export async function claimOfSlot(database: Database, slot: string): Promise<PaymentClaim | null> {
  const [found] = await database.query<{ claim_key: string }>({
    name: 'claim of slot',
    text: 'select claim_key from claim_slot where slot = $1',
    values: [slot],
  });
  return found ? claimByKey(database, found.claim_key) : null;
}
