import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { KEY_CLOCK_SECONDS } from '../../../schema/key-times.ts';
import { payloadVersionOf } from '../../../schema/receipt-payload.ts';
import { type Jwks, keysIn } from './signature.ts';

/*
 * Times in which a key may sign, as the key set states them: `nbf`, `exp` and `revoked`. A key without them may always
 * sign.
 */

/** The operator's statement that others may hold the key: only what was in the log before it is believed. */
interface Revocation {
  /** ISO 8601 in UTC, as a sentence says it. */
  readonly at: string;
  /** Leaves before this one were in the log by the time from which others may have held the key. */
  readonly tree_size: number;
}

/** Null if the key of that kid was not revoked. A revocation that cannot be read leaves nothing before it. */
export function revocationOf(jwks: Jwks, kid: Json | undefined): Revocation | null {
  const key = keysIn(jwks).find(each => each.kid === kid && each.revoked !== undefined);
  if (key === undefined) return null;
  const { revoked_at, tree_size } = isJsonObject(key.revoked) ? key.revoked : {};
  const at = typeof revoked_at === 'number' ? new Date(revoked_at * 1000) : null;
  return {
    at: at !== null && Number.isFinite(at.getTime()) ? at.toISOString() : 'some time',
    tree_size: typeof tree_size === 'number' && Number.isSafeInteger(tree_size) ? tree_size : 0,
  };
}

/** Whether it was signed before its key was the issuer's. */
export function isEarly(jwks: Jwks, kid: Json | undefined, claims: JsonObject): boolean {
  return nominal(jwks, kid, claims, ({ nbf }, iat) => typeof nbf === 'number' && iat + KEY_CLOCK_SECONDS < nbf);
}

/** Whether it was signed after its key was replaced. */
export function isLate(jwks: Jwks, kid: Json | undefined, claims: JsonObject): boolean {
  return nominal(jwks, kid, claims, ({ exp }, iat) => typeof exp === 'number' && iat > exp);
}

type IsOutside = (key: JsonObject, iat: number) => boolean;

/** Legacy receipts state no time, so none can be held against them; any other document without a time counts as outside. */
function nominal(jwks: Jwks, kid: Json | undefined, claims: JsonObject, isOutside: IsOutside): boolean {
  const key = keysIn(jwks).find(each => each.kid === kid);
  if (key === undefined || (key.nbf === undefined && key.exp === undefined)) return false;
  if (typeof claims.iat === 'number') return isOutside(key, claims.iat);
  return payloadVersionOf(claims)?.legacy !== true;
}
