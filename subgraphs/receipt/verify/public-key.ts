import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';

const known = new Map<string, KeyObject>();
/** An issuer has a few; whoever verifies documents of many issuers has room for these. */
const KNOWN_MAX = 256;

/**
 * The public key of a JWK, known by all that it is made of, whichever set brought it: to read it anew takes as long as half a
 * verification. @throws where it is none
 */
export function publicKey({ kty, crv, x, y }: JsonWebKey): KeyObject {
  const name = JSON.stringify([kty, crv, x, y]);
  const found = known.get(name);
  if (found !== undefined) return found;
  const key = createPublicKey({ key: { kty, crv, x, y } as JsonWebKey, format: 'jwk' });
  if (known.size >= KNOWN_MAX) known.clear();
  known.set(name, key);
  return key;
}
