import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { Database, Tx } from '../../database.ts';
import type { PaymentClaim } from './claim.entity.ts';
import type { Lease } from './claim.ts';
import { takeFreeSlots } from './slots.ts';
import { claimByKey } from './transitions.ts';

/**
 * Compare-and-set settling → held, with the transfer. From then on only the chain can release the claim. `slot` belongs to the transfer, so
 * that the transfer is recorded for one payment only. Returns `taken` and writes nothing if another claim has the slot.
 */
export async function holdLeg(tx: Tx, lease: Lease, transfer: JsonObject, slot: string): Promise<SlotHoldOutcome> {
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

/** The claim that holds a slot, in any state; null if none does. */
export async function claimOfSlot(database: Database, slot: string): Promise<PaymentClaim | null> {
  const [found] = await database.query<{ claim_key: string }>({
    name: 'claim of slot',
    text: 'select claim_key from claim_slot where slot = $1',
    values: [slot],
  });
  return found ? claimByKey(database, found.claim_key) : null;
}

/**
 * The held payment that holds a slot; null if there is none, or if it is doubted. The doubt is read before the claim: if the doubt has
 * ended, the claim is then read in the state that the end of the doubt left. No doubt ends while the second payment is in progress.
 */
export async function undoubtedLeg(database: Database, slot: string): Promise<PaymentClaim | null> {
  const [found] = await database.query<{ claim_key: string }>({
    name: 'undoubted claim of slot',
    text: `select claim_key from claim_slot s where slot = $1
      and not exists (select from doubted_payment d where d.claim_key = s.claim_key)`,
    values: [slot],
  });
  const claim = found ? await claimByKey(database, found.claim_key) : null;
  return claim?.state === 'held' ? claim : null;
}

/** Locks the claim and returns the transfer that pays for it; null if the claim is no longer held. */
export async function lockHeldTransfer(tx: Tx, claim_key: string): Promise<JsonObject | null> {
  const { rows } = await tx.query<{ held_transfer: JsonObject }>({
    name: 'lock held leg',
    text: `select held_transfer from payment_claim where claim_key = $1 and state = 'held' for update`,
    values: [claim_key],
  });
  return rows[0]?.held_transfer ?? null;
}

/** A transfer, and the slot that belongs to it. */
interface TransferHeld {
  readonly transfer: JsonObject;
  readonly slot: string;
}

/**
 * Replaces a lost transfer, whose slot is `left`, with the transfer that paid instead. The caller must have locked the claim. Returns
 * `taken` if another claim has the slot of the new transfer.
 */
export async function moveHold(
  tx: Tx,
  claim_key: string,
  left: string,
  { transfer, slot }: TransferHeld,
): Promise<Exclude<SlotHoldOutcome, 'lost'>> {
  tx.write({
    name: 'drop slot of lost transfer',
    text: 'delete from claim_slot where slot = $1 and claim_key = $2',
    values: [left, claim_key],
  });
  if ((await takeFreeSlots(tx, [{ slot, claim_key }])).length > 0) return 'taken';
  tx.write({
    name: 'hold leg anew',
    text: `update payment_claim set held_transfer = $2, moved_at = now() where claim_key = $1 and state = 'held'`,
    values: [claim_key, JSON.stringify(transfer)],
  });
  return 'held';
}

/** Amount that a held payment had reserved on a book, in atomic USDC. The caller must release it. */
interface ReleasedReserve {
  readonly agent_id: number | null;
  readonly reserved_atomic: bigint;
}

/**
 * Compare-and-set held → released. The release is final and frees all slots, because the payment has paid for nothing here and never will.
 * Null if the claim is no longer held.
 */
export async function releaseHeld(tx: Tx, claim_key: string, reason: string): Promise<ReleasedReserve | null> {
  const { rows } = await tx.query<ReleasedReserve>({
    name: 'release held leg',
    text: `with gone as (
        update payment_claim set state = 'released', final = true, reason = $2, answer_box = null, held_transfer = null, moved_at = now()
        where claim_key = $1 and state = 'held' returning claim_key, agent_id, reserved_atomic),
      dropped as (delete from claim_slot using gone where claim_slot.claim_key = gone.claim_key)
      select agent_id, reserved_atomic from gone`,
    values: [claim_key, reason],
  });
  return rows[0] ?? null;
}

/** `lost`: another process has the claim now. `taken`: another claim holds one of the slots. */
export type SlotHoldOutcome = 'held' | 'lost' | 'taken';

/**
 * Takes further slots for an existing claim that this process holds. The claim is locked first: otherwise another process could take it
 * over and release it, and its slots would be dropped before these are added. If another claim has one of the slots, those that were taken
 * are dropped when this claim is released.
 */
export async function holdSlots(tx: Tx, lease: Lease, slots: readonly string[]): Promise<SlotHoldOutcome> {
  const { rowCount } = await tx.query({
    name: 'hold claim',
    text: `select 1 from payment_claim where claim_key = $1 and lease_owner = $2 and lease_epoch = $3
      and state in ('claimed', 'settling') for update`,
    values: [lease.claim_key, lease.lease_owner, lease.lease_epoch],
  });
  if (rowCount !== 1) return 'lost';
  const missed = await takeFreeSlots(
    tx,
    slots.map(slot => ({ slot, claim_key: lease.claim_key })),
  );
  return missed.length === 0 ? 'held' : 'taken';
}
