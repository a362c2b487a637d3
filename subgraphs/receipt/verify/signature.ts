import { createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { addressOfPoint, eip191Hash, recoverAddress } from '../../../schema/secp256k1.ts';

/** A published key set (RFC 7517). Members that we do not understand are left alone (§5). */
export type Jwks = JsonObject;

export interface ParsedJws {
  readonly header: JsonObject;
  readonly claims: JsonObject;
  readonly input: string;
  readonly signature: Buffer;
}

/** Splits a compact JWS without believing it; null where it is none. */
export function parseJws(jws: Json | undefined): ParsedJws | null {
  if (typeof jws !== 'string') return null;
  const [head = '', body = '', tail = '', ...more] = jws.split('.');
  const signature = base64url(tail);
  const header = jsonObject(base64url(head));
  const claims = jsonObject(base64url(body));
  if (more.length > 0 || !signature || !header || !claims) return null;
  // RFC 7515 §4.1.11: an extension that must be understood and is not makes the token invalid.
  if (header.crit !== undefined) return null;
  return { header, claims, input: `${head}.${body}`, signature };
}

/** Raw ES256 (RFC 7518 §3.4) by the key of that kid. */
export function verifyEs256(jwks: Jwks, kid: Json | undefined, text: string, signature: Buffer | null): boolean {
  const key = keyOf(jwks, kid, 'P-256');
  if (!key || !signature) return false;
  return verify('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }, signature);
}

export function verifyEd25519(jwks: Jwks, signature: Json | undefined, text: string): boolean {
  if (!isJsonObject(signature) || signature.alg !== 'Ed25519') return false;
  const key = keyOf(jwks, signature.kid, 'Ed25519');
  const value = base64url(signature.value);
  return key !== null && value !== null && verify(null, Buffer.from(text), key, value);
}

/** Recovers the signer as a wallet would, and asks whether the key set publishes that address. */
export function verifyEip191(jwks: Jwks, signature: Json | undefined, text: string): boolean {
  if (!isJsonObject(signature) || signature.alg !== 'secp256k1-eip191') return false;
  const parts = /^0x([0-9a-f]{128})(1b|1c)$/.exec(typeof signature.value === 'string' ? signature.value : '');
  if (parts === null) return false;
  const [, compact = '', v] = parts;
  const address = recoverAddress(eip191Hash(text), Buffer.from(compact, 'hex'), v === '1b' ? 0 : 1);
  return address !== null && address === signature.address && publishedAddresses(jwks).includes(address);
}

/** Strict: what does not encode back to the same text is refused, so that no two texts mean one signature. */
export function base64url(text: Json | undefined): Buffer | null {
  if (typeof text !== 'string') return null;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}

function jsonObject(bytes: Buffer | null): JsonObject | null {
  try {
    const value: unknown = JSON.parse(bytes?.toString() ?? '');
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

function keysIn(jwks: Jwks): JsonObject[] {
  return Array.isArray(jwks.keys) ? jwks.keys.filter(isJsonObject) : [];
}

function keyOf(jwks: Jwks, kid: Json | undefined, crv: 'P-256' | 'Ed25519'): KeyObject | null {
  const jwk = keysIn(jwks).find(key => key.kid === kid && key.crv === crv);
  if (jwk === undefined) return null;
  try {
    const { kty, x, y } = jwk;
    return createPublicKey({ key: { kty, crv, x, y } as JsonWebKey, format: 'jwk' });
  } catch {
    return null;
  }
}

function publishedAddresses(jwks: Jwks): string[] {
  return keysIn(jwks)
    .filter(key => key.crv === 'secp256k1')
    .flatMap(key => {
      const [x, y] = [base64url(key.x), base64url(key.y)];
      return x?.length === 32 && y?.length === 32 ? [addressOfPoint(Buffer.concat([Uint8Array.of(4), x, y]))] : [];
    });
}
