import type { Possession, Principal } from '../../schema/principal.ts';
import type { Services } from '../../subgraphs/context.ts';
import { plainUse, proofEnds } from '../../subgraphs/session/possession/proof.ts';
import { takeProof } from '../../subgraphs/session/possession/take-proof.ts';
import { provenOnSocket, type ShownCredentials } from '../graph/identify.ts';

/** By what a socket that was opened by a proof is looked up from now on, and how long it may stay open. */
export interface KeptProof {
  readonly shown: ShownCredentials;
  /** Null: for as long as the session lives on which it rests. */
  readonly ms_left: number | null;
}

/**
 * A plain proof opens a socket for as long as it passes itself: whoever has read it could else follow a book for ever.
 * Of a bound one the nonce is taken here, so nobody else opens another with it. Null where it has been taken before.
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

/** By a plain proof each operation that writes is a use of its own, whatever opened the socket. */
export function writingOnce(principal: Principal, payload: object): Principal {
  const { possession } = principal;
  if (possession.kind !== 'proven' || possession.by !== 'plain_proof' || possession.use === null) return principal;
  const use = plainUse(possession, possession.use.window, provenOnSocket(payload));
  return { ...principal, possession: { ...possession, use } };
}
