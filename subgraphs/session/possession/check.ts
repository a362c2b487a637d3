import { sha256Hex } from '../../../schema/digest.ts';
import { INT_MAX } from '../../../schema/limits.ts';
import type { HeldBook, ProvenBy } from '../../../schema/principal.ts';
import type { ShownProof } from '../../../schema/proof.ts';
import { BatchedRead } from '../../batched-read.ts';
import type { Services } from '../../context.ts';
import type { Database } from '../../database.ts';
import { boxLabel, newSession } from './issue.ts';
import { useOf, windowOf } from './proof.ts';

/*
 * Checks of sessions and proofs. Their timing must not reveal whether an agent exists, so the same queries, decryptions and digests
 * run for any agent.
 */

/** No agent has this id. It is looked up in place of ids that are out of range. */
const NOBODY = 0;

/** The id, or `NOBODY` if it is outside the range of the column, for which Postgres would report an error. */
function lookedUpAs(agent_id: number): number {
  return Number.isInteger(agent_id) && agent_id > 0 && agent_id <= INT_MAX ? agent_id : NOBODY;
}

/** An encrypted session that was never issued. It is decrypted when the agent does not exist. */
export type DecoyBox = Buffer;

export function sealDecoy(services: Pick<Services, 'vault' | 'random'>): DecoyBox {
  return services.vault.seal(newSession(services), boxLabel(NOBODY));
}

/** Batched lookup of sessions: one per database, and so per process. */
const lookups = new WeakMap<Database, BatchedRead<HeldBook>>();

/** Book of a session. Null if it was never issued or has ended. */
export function bookOfSession(database: Database, session: string): Promise<HeldBook | null> {
  return bookOfSessionHash(database, sha256Hex(session));
}

/** Book of a session, by the hash of the session. Null if it was never issued or has ended. */
export function bookOfSessionHash(database: Database, session_hash: string): Promise<HeldBook | null> {
  const lookup = lookups.get(database) ?? new BatchedRead(hashes => booksByHash(database, hashes));
  lookups.set(database, lookup);
  return lookup.ask(session_hash);
}

async function booksByHash(database: Database, hashes: readonly string[]): Promise<ReadonlyMap<string, HeldBook>> {
  const held = await database.query<HeldBook & Record<string, unknown>>({
    name: 'held by session',
    // The subquery hides the number of values. Otherwise Postgres would plan the statement again for every call.
    text: `select agent_id, session_hash from possession
      where session_hash = any ((select $1::text[])::text[]) and ended_at is null`,
    values: [hashes],
  });
  return new Map(held.map(one => [one.session_hash, one]));
}

/** Book that a proof opens, if it was made with the live session of the agent that it names. Null otherwise. The proof is not used up. */
export async function bookOfProof(
  services: Pick<Services, 'database' | 'vault' | 'clock'> & { readonly decoy: DecoyBox },
  proof: ShownProof,
): Promise<(HeldBook & ProvenBy) | null> {
  const agent_id = lookedUpAs(proof.agent_id);
  const [live] = await services.database.query<HeldBook & { session_box: Buffer }>({
    name: 'session box of agent',
    text: 'select agent_id, session_hash, session_box from possession where agent_id = $1 and ended_at is null',
    values: [agent_id],
  });
  const session = services.vault.open(live?.session_box ?? services.decoy, boxLabel(live?.agent_id ?? NOBODY));
  const window = windowOf(proof, session.toString(), agent_id, services.clock.now_ms());
  if (!live || window === null) return null;
  const held = { agent_id: live.agent_id, session_hash: live.session_hash };
  return { ...held, by: proof.nonce === null ? 'plain_proof' : 'bound_proof', use: useOf(proof, held, window) };
}
