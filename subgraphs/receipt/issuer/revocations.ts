import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import type { Histories } from './histories.ts';
import { historyRef, kidOf, type Snapshot } from './snapshot.ts';

/**
 * What no longer signs, as the issuer history knows it now: each key of a seed that gave way to another is `retired` since
 * then, and what it signed before goes on verifying; one that others may hold is `revoked`, and only what the log held by
 * then verifies. Delegated sessions that were revoked stand beside them (revoked-sessions.ts).
 */
export function revocations(histories: Pick<Histories, 'snapshots' | 'revocations'>): JsonObject {
  const { snapshots } = histories;
  const newest = snapshots.at(-1);
  if (newest === undefined) throw new RangeError('the issuer has no history');
  return {
    schema: documents.revocations,
    issuer_history: historyRef(newest),
    keys: snapshots.flatMap((snapshot, index) => endedKeys(snapshot, snapshots[index + 1], histories)).toReversed(),
  };
}

function endedKeys(
  { version, keys, activated_at }: Snapshot,
  next: Snapshot | undefined,
  { revocations }: Pick<Histories, 'revocations'>,
): JsonObject[] {
  if (next === undefined) return [];
  const { activated_at: retired_at } = next;
  const said = revocations.find(({ document }) => document.kid === kidOf(keys));
  const { revoked_at, since, reason, log, previous_hash }: JsonObject = said?.document ?? {};
  const status = said === undefined ? 'retired' : 'revoked';
  const revoked =
    said === undefined ? {} : present({ revoked_at, since, reason, log, previous_hash, statement: said.jws });
  return [keys.secp256k1, keys.ed25519, keys.es256].map(({ kid = null, alg = null }) => ({
    kid,
    alg,
    seq: version,
    status,
    activated_at,
    retired_at,
    ...revoked,
  }));
}
