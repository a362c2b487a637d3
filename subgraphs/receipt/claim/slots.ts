import type { TaskId } from '../../../schema/ids.ts';
import type { Possession } from '../../../schema/principal.ts';
import type { Database, Tx } from '../../database.ts';

/* Slots, each of which one claim holds at a time: how they are called, taken and dropped. */

/** Which of these slots a claim holds, whosever it is. */
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

/** The same of one, as a transaction sees it. */
export async function isTaken(tx: Tx, slot: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'is slot held',
    text: 'select from claim_slot where slot = $1',
    values: [slot],
  });
  return rowCount === 1;
}

/**
 * How slots begin of the first of two payments. Whom it pays could submit what we have let go of: until the finalized
 * chain shows it used, cancelled or past its time, nobody else may hold such a slot, whatever became of the claim.
 */
export const LEG = 'leg:';

/** Why a leg is let go of whose transfer stands on a book already, as a payment to somebody else. */
export const RECORDED_ELSEWHERE = 'recorded_elsewhere';

/** Why a leg is let go of that the final chain does not have, though it was seen there. */
export const VANISHED = 'settlement_vanished';

/** Held by the second of two payments: one alone records the first. */
export const siblingSlot = (claim_key: string): string => `sibling:${claim_key}`;

const PROOF = 'proof:';

/**
 * A proof that came with a payment is used by the claim, and so by nothing that was not charged: x402 sends the same request
 * twice, and whoever hears 402, 409 or 503 sends it again. `once`: what is bought is written, so a plain proof does for one too.
 */
export function proofSlots(possession: Possession, once: boolean): readonly string[] {
  if (possession.kind !== 'proven' || possession.by === 'session' || possession.use === null) return [];
  if (possession.by === 'plain_proof' && !once) return [];
  return [`${PROOF}${possession.agent_id}:${possession.use.digest}`];
}

export const isProofSlot = (slot: string): boolean => slot.startsWith(PROOF);

/** Takes slots for claims, and returns those that another claim holds. */
export async function slotsMissed(tx: Tx, wanted: readonly WantedSlot[]): Promise<readonly WantedSlot[]> {
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

/** All but those that stay with a payment until the chain is done with it. */
export function dropSlots(tx: Tx, claim_keys: readonly string[]): void {
  tx.write({
    name: 'drop slots',
    text: `delete from claim_slot where claim_key = any($1) and slot not like '${LEG}%'`,
    values: [claim_keys],
  });
}

/** The same of claims that came to nothing as they were made, or that their book refused: one that was never sent keeps none. */
export function dropSlotsUnlessSent(tx: Tx, claim_keys: readonly string[]): void {
  tx.write({
    name: 'drop slots unless sent',
    text: `delete from claim_slot s using payment_claim c
      where s.claim_key = any($1) and c.claim_key = s.claim_key and (c.from_block is null or s.slot not like '${LEG}%')`,
    values: [claim_keys],
  });
}

/** A slot that the claim of that task wants no longer, whatever becomes of it. One that another holds stays held. */
export function dropSlot(tx: Tx, slot: string, task_id: TaskId): void {
  tx.write({
    name: 'drop slot',
    text: `delete from claim_slot where slot = $1 and claim_key = (select claim_key from payment_claim where task_id = $2)`,
    values: [slot, task_id],
  });
}
