import { createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject, jsonObjectIn } from '../../../schema/canonical-json.ts';
import { addressOfPoint, eip191Hash, recoverAddress } from '../../../schema/secp256k1.ts';

/** A published key set (RFC 7517). Unknown members are ignored (§5). */
export type Jwks = JsonObject;

export interface ParsedJws {
  readonly header: JsonObject;
  readonly claims: JsonObject;
  readonly input: string;
  readonly signature: Buffer;
}

/** Splits a compact JWS without verifying it. Null if it is malformed, or requires unknown extensions. */
export function parseJws(jws: Json | undefined): ParsedJws | null {
  const split = splitJws(jws);
  return split === null || hasUnknownExtensions(split) ? null : split;
}

/**
 * A critical extension that is not supported makes the token invalid (RFC 7515 §4.1.11). So does `b64` even if it is not marked as
 * critical, because readers that ignore it would verify other bytes than readers that apply it (RFC 7797 §6).
 */
export function hasUnknownExtensions({ header: { crit, b64 } }: Pick<ParsedJws, 'header'>): boolean {
  return crit !== undefined || b64 !== undefined;
}

export function splitJws(jws: Json | undefined): ParsedJws | null {
  if (typeof jws !== 'string') return null;
  const [head = '', body = '', tail = '', ...more] = jws.split('.');
  const signature = base64url(tail);
  const header = jsonObjectIn(base64url(head)?.toString() ?? '');
  const claims = jsonObjectIn(base64url(body)?.toString() ?? '');
  if (more.length > 0 || !signature || !header || !claims) return null;
  return { header, claims, input: `${head}.${body}`, signature };
}

/** Whether the key of that kid made a raw ES256 signature (RFC 7518 §3.4) of the text. */
export function verifyEs256(jwks: Jwks, kid: Json | undefined, text: string, signature: Buffer | null): boolean {
  return verifyEs256Bytes(jwks, kid, Buffer.from(text), signature);
}

/** Like `verifyEs256`, for bytes instead of text. */
export function verifyEs256Bytes(
  jwks: Jwks,
  kid: Json | undefined,
  bytes: Uint8Array,
  signature: Buffer | null,
): boolean {
  const key = keyOf(jwks, kid, 'P-256');
  if (!key || !signature) return false;
  return verify('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' }, signature);
}

export function verifyEd25519(jwks: Jwks, signature: Json | undefined, text: string): boolean {
  if (!isJsonObject(signature) || signature.alg !== 'Ed25519') return false;
  const key = keyOf(jwks, signature.kid, 'Ed25519');
  const value = base64url(signature.value);
  return key !== null && value !== null && verify(null, Buffer.from(text), key, value);
}

/** The raw Ed25519 keys of a key set, 32 bytes each. Revoked keys are left out, because their signatures of a log prove nothing. */
export function ed25519KeysIn(jwks: Jwks): Buffer[] {
  const raw = keysIn(jwks).map(({ crv, x, revoked }) =>
    crv === 'Ed25519' && revoked === undefined ? base64url(x) : null,
  );
  return raw.filter(key => key?.length === 32) as Buffer[];
}

/** Recovers the signer as a wallet would, and checks that the key set publishes that address. */
export function verifyEip191(jwks: Jwks, signature: Json | undefined, text: string): boolean {
  if (!isJsonObject(signature) || signature.alg !== 'secp256k1-eip191') return false;
  const address = recoverSigner(eip191Hash(text), signature.value);
  return address !== null && address === signature.address && keyOfAddress(jwks, address) !== null;
}

/** The address whose key made a signature (0x, r, s and v in lower case) over a digest; null if no key did. */
export function recoverSigner(digest: Uint8Array, value: Json | undefined): string | null {
  const parts = /^0x([0-9a-f]{128})(1b|1c)$/.exec(typeof value === 'string' ? value : '');
  if (parts === null) return null;
  const [, compact = '', v] = parts;
  return recoverAddress(digest, Buffer.from(compact, 'hex'), v === '1b' ? 0 : 1);
}

/** The key of the set that has that address; null if none has. */
export function keyOfAddress(jwks: Jwks, address: string): JsonObject | null {
  return keysIn(jwks).find(key => key.crv === 'secp256k1' && addressOf(key) === address) ?? null;
}

/** Decodes base64url. Null if the bytes do not encode back to the same text, so that each signature has only one text. */
export function base64url(text: Json | undefined): Buffer | null {
  if (typeof text !== 'string') return null;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}

export function keysIn(jwks: Jwks): JsonObject[] {
  return Array.isArray(jwks.keys) ? jwks.keys.filter(isJsonObject) : [];
}

/** The type and the algorithms that a key for each curve may state (RFC 7517 §4.1 and §4.4, RFC 9864 for `Ed25519`). */
const uses = {
  'P-256': { kty: 'EC', algs: ['ES256'] },
  Ed25519: { kty: 'OKP', algs: ['Ed25519', 'EdDSA'] },
} as const satisfies Record<string, { kty: string; algs: readonly string[] }>;

/** Whether a key may verify signatures on a curve, by what it states about itself (RFC 7517 §4.1 to §4.4). */
function isFor(crv: keyof typeof uses, key: JsonObject): boolean {
  const { kty, algs } = uses[crv];
  const { alg, use, key_ops } = key;
  const named = alg === undefined || algs.some(each => each === alg);
  const verifies = key_ops === undefined || (Array.isArray(key_ops) && key_ops.includes('verify'));
  return key.crv === crv && key.kty === kty && named && (use === undefined || use === 'sig') && verifies;
}

/** The only key of that kid (RFC 7517 §4.5); null if there is none. If two keys have the kid, neither is used. */
function keyOf(jwks: Jwks, kid: Json | undefined, crv: keyof typeof uses): KeyObject | null {
  const [jwk, ...others] = keysIn(jwks).filter(key => key.kid === kid);
  if (jwk === undefined || others.length > 0 || typeof kid !== 'string' || !isFor(crv, jwk)) return null;
  try {
    const { kty, x, y } = jwk;
    return publicKey({ kty, crv, x, y } as JsonWebKey);
  } catch {
    return null;
  }
}

function addressOf(key: JsonObject): string | null {
  const [x, y] = [base64url(key.x), base64url(key.y)];
  return x?.length === 32 && y?.length === 32 ? addressOfPoint(Buffer.concat([Uint8Array.of(4), x, y])) : null;
}

const known = new Map<string, KeyObject>();
/** Maximum number of cached keys. An issuer has only a few, so this is enough to verify documents of many issuers. */
const KNOWN_MAX = 256;

/**
 * The public key of a JWK. It is cached by its members for all key sets, because importing a key takes half as long as a verification.
 * @throws if it is invalid
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
