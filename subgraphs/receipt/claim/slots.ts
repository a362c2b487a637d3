import type { TaskId } from '../../../schema/ids.ts';
import type { Possession } from '../../../schema/principal.ts';
import type { Database, Tx } from '../../database.ts';

/* Slots: names that one claim at a time can hold. This file builds the names, and takes and drops the slots. */

/** Returns those of the given slots that a claim holds. */
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

/** Whether a claim holds the slot, as this transaction sees it. */
export async function isTaken(tx: Tx, slot: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'is slot held',
    text: 'select from claim_slot where slot = $1',
    values: [slot],
  });
  return rowCount === 1;
}

/**
 * Prefix of the slots of a first payment of two. After a release its payee could still submit the payment, so no other claim may hold such
 * a slot until the finalized chain shows the payment used, canceled or expired.
 */
export const LEG = 'leg:';

/** `reason` of a first payment that is released because its transfer is already recorded on a book as a payment to another party. */
export const RECORDED_ELSEWHERE = 'recorded_elsewhere';

/** `reason` of a first payment that is released because the finalized chain does not have it, although it was seen there. */
export const VANISHED = 'settlement_vanished';

/** Slot that the second of two payments holds, so that only one second payment records the first. `claim_key` is the key of the first. */
export const siblingSlot = (claim_key: string): string => `sibling:${claim_key}`;

const PROOF = 'proof:';

/**
 * Slots of the proof of possession that comes with a payment. The claim holds them, so that a proof is used up only by a call that is
 * charged: x402 sends the same request twice, and clients repeat it after 402, 409 or 503. `once`: the purchase is a write, so even a plain
 * proof can be used only once.
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

/** Drops all slots of the claims, except those that stay with a payment until its outcome on the chain is final. */
export function dropSlots(tx: Tx, claim_keys: readonly string[]): void {
  tx.write({
    name: 'drop slots',
    text: `delete from claim_slot where claim_key = any($1) and slot not like '${LEG}%'`,
    values: [claim_keys],
  });
}

/**
 * Drops the slots of claims that failed when they were made, or that their book refused. The slot of a first payment stays only if the
 * payment was sent.
 */
export function dropSlotsUnlessSent(tx: Tx, claim_keys: readonly string[]): void {
  tx.write({
    name: 'drop slots unless sent',
    text: `delete from claim_slot s using payment_claim c
      where s.claim_key = any($1) and c.claim_key = s.claim_key and (c.from_block is null or s.slot not like '${LEG}%')`,
    values: [claim_keys],
  });
}

/** Drops a slot that the claim of the task no longer needs, whatever its outcome. A slot that another claim holds is not dropped. */
export function dropSlot(tx: Tx, slot: string, task_id: TaskId): void {
  tx.write({
    name: 'drop slot',
    text: `delete from claim_slot where slot = $1 and claim_key = (select claim_key from payment_claim where task_id = $2)`,
    values: [slot, task_id],
  });
}
