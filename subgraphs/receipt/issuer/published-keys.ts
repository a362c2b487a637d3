import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import { KEY_OVERLAP_SECONDS } from '../../../schema/key-times.ts';
import type { Histories } from './histories.ts';
import { findRevocation, type Revocation } from './revocation.ts';
import { kidOf, type PublicKeys } from './snapshot.ts';

const seconds = (time: string) => Math.floor(Date.parse(time) / 1000);

/**
 * Every public key that ever signed, the newest first, so that old receipts go on verifying without their seeds; each with the
 * times in which it signed (`nbf`, `exp`, `revoked`: OpenID Federation's members of a key that has a history). The first key
 * names no beginning: it has signed since before times were kept. What a key leaves out does not apply.
 */
export function publishedKeys({ snapshots, revocations }: Pick<Histories, 'snapshots' | 'revocations'>): JsonObject {
  const sets = snapshots.map(({ keys, activated_at }, index) => {
    const next = snapshots[index + 1];
    const times = present({
      nbf: index === 0 ? null : seconds(activated_at),
      exp: next === undefined ? null : seconds(next.activated_at) + KEY_OVERLAP_SECONDS,
      revoked: revokedMember(revocations, keys),
    });
    return [keys.es256, keys.ed25519, keys.secp256k1].map(jwk => ({ ...jwk, ...times }));
  });
  return { keys: sets.reverse().flat() };
}

/** `tree_size`: leaves of the log before that one are the issuer's. */
function revokedMember(revocations: readonly Revocation[], keys: PublicKeys): JsonObject | null {
  const revoked = findRevocation(revocations, kidOf(keys));
  if (revoked === null) return null;
  const { revoked_at, since, reason, log } = revoked;
  return { revoked_at: seconds(revoked_at), since: seconds(since), reason, ...log };
}
