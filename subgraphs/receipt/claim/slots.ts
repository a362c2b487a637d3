import type { Possession } from '../../../schema/principal.ts';
import type { Database, Tx } from '../../database.ts';

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
