import type { TaskId } from '../../../schema/ids.ts';
import type { Possession } from '../../../schema/principal.ts';
import type { Database, Tx } from '../../database.ts';

/* Slots, each held by one claim at a time: their names, and how they are taken and dropped. */

/** The slots among these that any claim holds. */
export async function takenSlots(
  database: Pick<Database, 'query'>,
  slots: readonly string[],
): Promise<ReadonlySet<string>> {
  const held = await database.query<{ slot: string }>({
    name: 'slots that are held',
    text: 'select slot from claim_slot where slot = any($1)',
    values: [slots],
  });
  return new Set(held.map(({ slot }) => slot));
}

/** The same for one slot, as a transaction sees it. */
export async function isTaken(tx: Tx, slot: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'is slot held',
    text: 'select from claim_slot where slot = $1',
    values: [slot],
  });
  return rowCount === 1;
}

/**
 * Prefix of slots of the first of two payments. Its payee could submit a released payment, so no other claim may hold
 * such a slot until the finalized chain shows the payment used, canceled or expired.
 */
export const LEG = 'leg:';

/** Why a first payment is released whose transfer is already recorded on a book as a payment to another party. */
export const RECORDED_ELSEWHERE = 'recorded_elsewhere';

/** Why a leg is released that the final chain does not have, though it was seen there. */
export const VANISHED = 'settlement_vanished';

/** Held by the second of two payments, so that only one second payment records the first. */
export const siblingSlot = (claim_key: string): string => `sibling:${claim_key}`;

const PROOF = 'proof:';

/**
 * A proof that comes with a payment is used up by the claim, so only by what was charged: x402 sends the same request
 * twice, and clients repeat it after 402, 409 or 503. `once`: the purchase is a write, so a plain proof counts once
 * too.
 */
export function proofSlots(possession: Possession, once: boolean): readonly string[] {
  if (possession.kind !== 'proven' || possession.by === 'session' || possession.use === null) return [];
  if (possession.by === 'plain_proof' && !once) return [];
  return [`${PROOF}${possession.agent_id}:${possession.use.digest}`];
}

export const isProofSlot = (slot: string): boolean => slot.startsWith(PROOF);

/** Takes slots for claims, and returns those that another claim holds. */
export async function takeFreeSlots(tx: Tx, wanted: readonly WantedSlot[]): Promise<readonly WantedSlot[]> {
  if (wanted.length === 0) return [];
  const sorted = [...wanted].sort((a, b) => (a.slot < b.slot ? -1 : 1));
  tx.write({
    name: 'take slots',
    text: `insert into claim_slot (slot, claim_key) select slot, claim_key from jsonb_populate_recordset(null::claim_slot, $1::jsonb)
      order by slot on conflict (slot) do nothing`,
    values: [JSON.stringify(sorted)],
  });
  const { rows } = await tx.query<WantedSlot>({
    name: 'slots held',
    text: 'select slot, claim_key from claim_slot where slot = any($1)',
    values: [sorted.map(({ slot }) => slot)],
  });
  const holders = new Map(rows.map(({ slot, claim_key }) => [slot, claim_key]));
  return wanted.filter(({ slot, claim_key }) => holders.get(slot) !== claim_key);
}

interface WantedSlot {
  readonly slot: string;
  readonly claim_key: string;
}

/** Drops all slots except those that stay with a payment until its outcome on the chain is final. */
export function dropSlots(tx: Tx, claim_keys: readonly string[]): void {
  tx.write({
    name: 'drop slots',
    text: `delete from claim_slot where claim_key = any($1) and slot not like '${LEG}%'`,
    values: [claim_keys],
  });
}

/** The same for claims that failed as they were made, or that their book refused: one that was never sent keeps none. */
export function dropSlotsUnlessSent(tx: Tx, claim_keys: readonly string[]): void {
  tx.write({
    name: 'drop slots unless sent',
    text: `delete from claim_slot s using payment_claim c
      where s.claim_key = any($1) and c.claim_key = s.claim_key and (c.from_block is null or s.slot not like '${LEG}%')`,
    values: [claim_keys],
  });
}

/** Drops a slot that the claim of that task no longer needs, whatever its outcome. A slot that another claim holds stays held. */
export function dropSlot(tx: Tx, slot: string, task_id: TaskId): void {
  tx.write({
    name: 'drop slot',
    text: `delete from claim_slot where slot = $1 and claim_key = (select claim_key from payment_claim where task_id = $2)`,
    values: [slot, task_id],
  });
}
