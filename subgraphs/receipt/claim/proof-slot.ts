import type { Possession } from '../../../schema/principal.ts';

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
