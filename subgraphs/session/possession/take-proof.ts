import { limits } from '../../../schema/limits.ts';
import type { HeldBook, ProofUse } from '../../../schema/principal.ts';
import type { Database } from '../../database.ts';
import { proofEnds } from './proof.ts';

/** `full` means that the maximum number of uses of this agent is stored. The proof is then refused. */
export type TakeOutcome = 'taken' | 'used' | 'full';

/**
 * Takes a use of a proof, which can be taken once over all processes. This is called for valid proofs only, so that no other client can
 * add rows. Concurrent requests may exceed the limit of rows slightly.
 */
export async function takeProof(
  database: Database,
  { agent_id }: Pick<HeldBook, 'agent_id'>,
  { window, digest }: ProofUse,
): Promise<TakeOutcome> {
  const [taking] = await database.query<{ full: boolean; taken: boolean }>({
    name: 'take proof',
    text: `with remembered as (
        select count(*) as uses from (select from proof_use where agent_id = $1 limit $4) as uses_of_agent
      ), taken as (
        insert into proof_use (agent_id, digest, forget_at)
        select $1, decode($2, 'hex'), to_timestamp($3) from remembered where uses < $4
        on conflict do nothing returning 1
      )
      select uses >= $4 as full, exists (select from taken) as taken from remembered`,
    values: [agent_id, digest, proofEnds(window) + limits.clocks_apart_seconds_max, limits.book_proofs_taken_max],
  });
  if (taking?.taken) return 'taken';
  return taking?.full ? 'full' : 'used';
}
