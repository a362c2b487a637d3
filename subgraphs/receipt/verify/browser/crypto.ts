import { invert, mod } from '@noble/curves/abstract/modular';
import { ed25519 } from '@noble/curves/ed25519';
import { p256 } from '@noble/curves/nist';
import { sha256 } from '@noble/hashes/sha2';
import { Buffer } from './buffer.ts';

/*
 * The part of `node:crypto` that the verifier uses, for browsers, in JavaScript (@noble). WebCrypto of browsers is asynchronous, has no
 * secp256k1, and does not have Ed25519 in every browser.
 */

type Point = InstanceType<typeof p256.ProjectivePoint>;

interface PublicKey {
  readonly crv: 'P-256' | 'Ed25519';
  readonly bytes: Uint8Array;
  /** The point of a P-256 key; null for Ed25519. */
  readonly point: Point | null;
  /** Number of verifications so far. For a frequently used P-256 key, a table of multiples is computed once. */
  uses: number;
}

/** Computing a table of multiples takes as long as this number of verifications. */
const USES_WITHOUT_TABLE = 20;
const TABLE_WINDOW_BITS = 8;

export function hash(algorithm: string, data: Uint8Array | string, encoding: 'hex' | 'buffer' = 'hex') {
  if (algorithm !== 'sha256') throw new Error(`there is no ${algorithm} here`);
  const digest = Buffer.from(sha256(typeof data === 'string' ? Buffer.from(data) : data));
  return encoding === 'buffer' ? digest : digest.toString('hex');
}

/** The verifier must never call this function, because nothing that it verifies is a secret. */
export function timingSafeEqual(): never {
  throw new Error('a verifier compares no secrets');
}

/** Reads a public JWK of P-256 or Ed25519. @throws if it is not a key of one of these curves */
export function createPublicKey({
  key: { crv, x, y },
}: {
  key: { crv?: unknown; x?: unknown; y?: unknown };
}): PublicKey {
  if (crv === 'Ed25519') return { crv, bytes: coordinate(x), point: null, uses: 0 };
  if (crv !== 'P-256') throw new Error(`there is no ${String(crv)} here`);
  const bytes = Buffer.concat([Buffer.of(4), coordinate(x), coordinate(y)]);
  const point = p256.ProjectivePoint.fromHex(bytes);
  point.assertValidity();
  return { crv, bytes, point, uses: 0 };
}

function coordinate(text: unknown): Uint8Array {
  const bytes = Buffer.from(typeof text === 'string' ? text : '', 'base64url');
  if (bytes.length !== 32) throw new Error('a coordinate has 32 bytes');
  return bytes;
}

/** ES256 (`sha256`, r and s side by side) or Ed25519 (null), by the kind of the key. False if the signature is malformed. */
function verifySignature(
  algorithm: 'sha256' | null,
  data: Uint8Array,
  key: PublicKey | { readonly key: PublicKey },
  signature: Uint8Array,
): boolean {
  const own = 'key' in key ? key.key : key;
  const { crv, bytes, point } = own;
  if (signature.length !== 64 || (crv === 'P-256') !== (algorithm === 'sha256')) return false;
  try {
    if (crv === 'Ed25519') return ed25519.verify(signature, data, bytes, { zip215: false });
    own.uses++;
    if (point !== null && own.uses > USES_WITHOUT_TABLE) {
      if (own.uses === USES_WITHOUT_TABLE + 1) p256.utils.precompute(TABLE_WINDOW_BITS, point);
      return signsByTable(point, signature, sha256(data));
    }
    // RFC 7518 §3.4 does not require a low s: both forms are valid signatures.
    return p256.verify(signature, sha256(data), bytes, { lowS: false, prehash: false });
  } catch {
    return false;
  }
}

/** ECDSA (FIPS 186-5 §6.4.2) as the library computes it, with the table of a key's multiples. @throws if r or s is out of range */
function signsByTable(point: Point, signature: Uint8Array, digest: Uint8Array): boolean {
  const { r, s } = p256.Signature.fromCompact(signature);
  const { n } = p256.CURVE;
  const hashed = BigInt(`0x${Buffer.from(digest).toString('hex')}`);
  const inverse = invert(s, n);
  const sum = p256.ProjectivePoint.BASE.multiplyUnsafe(mod(hashed * inverse, n)).add(
    point.multiplyUnsafe(mod(r * inverse, n)),
  );
  return !sum.equals(p256.ProjectivePoint.ZERO) && mod(sum.toAffine().x, n) === r;
}

export { verifySignature as verify };
