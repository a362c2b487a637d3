import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { KEY_CLOCK_SECONDS } from '../../../schema/key-times.ts';
import { payloadVersionOf } from '../../../schema/receipt-payload.ts';
import { type Jwks, keysIn } from './signature.ts';

/*
 * Times at which a key may sign, as the key set states them: `nbf`, `exp` and `revoked`. A key without them may always sign.
 */

/** The operator's statement that others may have the key. Only documents that were in the log before that are trusted. */
interface Revocation {
  /** Time of the revocation for use in sentences (ISO 8601, UTC), or `some time` if it cannot be read. */
  readonly at: string;
  /** Size of the log at the time from which others may have had the key. Only leaves before this index are trusted. */
  readonly tree_size: number;
}

/** The revocation of the key of that kid; null if it was not revoked. If a revocation cannot be read, no leaf counts as before it. */
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

/** Whether a document with these claims was signed before its key was activated. */
export function isEarly(jwks: Jwks, kid: Json | undefined, claims: JsonObject): boolean {
  return nominal(jwks, kid, claims, ({ nbf }, iat) => typeof nbf === 'number' && iat + KEY_CLOCK_SECONDS < nbf);
}

/** Whether a document with these claims was signed after its key was retired. */
export function isLate(jwks: Jwks, kid: Json | undefined, claims: JsonObject): boolean {
  return nominal(jwks, kid, claims, ({ exp }, iat) => typeof exp === 'number' && iat > exp);
}

type IsOutside = (key: JsonObject, iat: number) => boolean;

/** Legacy receipts state no time, so they count as signed in time. Other documents without a time count as outside the times of the key. */
function nominal(jwks: Jwks, kid: Json | undefined, claims: JsonObject, isOutside: IsOutside): boolean {
  const key = keysIn(jwks).find(each => each.kid === kid);
  if (key === undefined || (key.nbf === undefined && key.exp === undefined)) return false;
  if (typeof claims.iat === 'number') return isOutside(key, claims.iat);
  return payloadVersionOf(claims)?.legacy !== true;
}
