import type { Possession, Principal } from '../../schema/principal.ts';
import type { Services } from '../../subgraphs/context.ts';
import { plainUse, proofEnds } from '../../subgraphs/session/possession/proof.ts';
import { takeProof } from '../../subgraphs/session/possession/take-proof.ts';
import { provenOnSocket, type ShownCredentials } from '../graph/identify.ts';

/** How the caller of a socket that was opened by a proof is identified later, and how long the socket may stay open. */
export interface KeptProof {
  readonly shown: ShownCredentials;
  /** Milliseconds for which the socket may stay open. Null if it may stay open as long as the session of the proof. */
  readonly ms_left: number | null;
}

/**
 * Keeps what a proof permits on a socket. A plain proof opens a socket for as long as the proof is valid, because a copy of it could
 * otherwise follow a book for ever. The nonce of a bound proof is consumed here, so that it opens only one socket. Null if it was consumed
 * before.
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

/** The caller of an operation. With a plain proof, each writing operation is a separate use of it, whatever opened the socket. */
export function withUsePerWrite(principal: Principal, payload: object): Principal {
  const { possession } = principal;
  if (possession.kind !== 'proven' || possession.by !== 'plain_proof' || possession.use === null) return principal;
  const use = plainUse(possession, possession.use.window, provenOnSocket(payload));
  return { ...principal, possession: { ...possession, use } };
}
