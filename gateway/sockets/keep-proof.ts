import type { Possession, Principal } from '../../schema/principal.ts';
import type { Services } from '../../subgraphs/context.ts';
import { plainUse, proofEnds } from '../../subgraphs/session/possession/proof.ts';
import { takeProof } from '../../subgraphs/session/possession/take-proof.ts';
import { provenOnSocket, type ShownCredentials } from '../graph/identify.ts';

/** How a socket that was opened by a proof is identified later, and how long it may stay open. */
export interface KeptProof {
  readonly shown: ShownCredentials;
  /** Null: as long as the session of the proof. */
  readonly ms_left: number | null;
}

/**
 * A plain proof opens a socket for as long as it is valid itself: a copy could otherwise follow a book forever. The
 * nonce of a bound proof is consumed here, so that it opens one socket only. Null if it was consumed before.
 */
export async function keepProof(
  shown: ShownCredentials,
  possession: Possession,
  { database, clock }: Pick<Services, 'database' | 'clock'>,
): Promise<KeptProof | null> {
  if (possession.kind === 'several') return { shown: { ...shown, proof: null }, ms_left: null };
  if (possession.kind !== 'proven') return null;
  if (possession.by === 'session') return { shown: { ...shown, proof: null }, ms_left: null };
  const { by, use, session_hash } = possession;
  if (use === null) return null;
  if (by === 'plain_proof') return { shown, ms_left: Math.max(0, proofEnds(use.window) * 1_000 - clock.now_ms()) };
  if ((await takeProof(database, possession, use)) !== 'taken') return null;
  return { shown: { ...shown, proof: null, rests_on: session_hash }, ms_left: null };
}

/** With a plain proof each writing operation is a use of its own, whatever opened the socket. */
export function withUsePerWrite(principal: Principal, payload: object): Principal {
  const { possession } = principal;
  if (possession.kind !== 'proven' || possession.by !== 'plain_proof' || possession.use === null) return principal;
  const use = plainUse(possession, possession.use.window, provenOnSocket(payload));
  return { ...principal, possession: { ...possession, use } };
}
