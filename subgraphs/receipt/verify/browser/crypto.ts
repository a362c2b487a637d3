import { ed25519 } from '@noble/curves/ed25519';
import { p256 } from '@noble/curves/nist';
import { sha256 } from '@noble/hashes/sha2';
import { Buffer } from './buffer.ts';

/*
 * As much of `node:crypto` as the verifier uses, for browsers: theirs (WebCrypto) answers later, and has neither secp256k1
 * nor everywhere Ed25519. By @noble, in JavaScript.
 */

interface PublicKey {
  readonly crv: 'P-256' | 'Ed25519';
  readonly bytes: Uint8Array;
}

export function hash(algorithm: string, data: Uint8Array | string, encoding: 'hex' | 'buffer' = 'hex') {
  if (algorithm !== 'sha256') throw new Error(`there is no ${algorithm} here`);
  const digest = Buffer.from(sha256(typeof data === 'string' ? Buffer.from(data) : data));
  return encoding === 'buffer' ? digest : digest.toString('hex');
}

/** Nothing that is verified here is a secret. */
export function timingSafeEqual(): never {
  throw new Error('a verifier compares no secrets');
}

/** @throws where it is no key of that curve */
export function createPublicKey({
  key: { crv, x, y },
}: {
  key: { crv?: unknown; x?: unknown; y?: unknown };
}): PublicKey {
  if (crv === 'Ed25519') return { crv, bytes: coordinate(x) };
  if (crv !== 'P-256') throw new Error(`there is no ${String(crv)} here`);
  const bytes = Buffer.concat([Buffer.of(4), coordinate(x), coordinate(y)]);
  p256.ProjectivePoint.fromHex(bytes).assertValidity();
  return { crv, bytes };
}

function coordinate(text: unknown): Uint8Array {
  const bytes = Buffer.from(typeof text === 'string' ? text : '', 'base64url');
  if (bytes.length !== 32) throw new Error('a coordinate has 32 bytes');
  return bytes;
}

/** ES256 (`sha256`, r and s side by side) or Ed25519 (null), by what the key is of. False where the signature is malformed. */
function verifySignature(
  algorithm: 'sha256' | null,
  data: Uint8Array,
  key: PublicKey | { readonly key: PublicKey },
  signature: Uint8Array,
): boolean {
  const { crv, bytes } = 'key' in key ? key.key : key;
  if (signature.length !== 64 || (crv === 'P-256') !== (algorithm === 'sha256')) return false;
  try {
    if (crv === 'Ed25519') return ed25519.verify(signature, data, bytes, { zip215: false });
    // RFC 7518 §3.4 knows no low s: either form is a signature.
    return p256.verify(signature, sha256(data), bytes, { lowS: false, prehash: false });
  } catch {
    return false;
  }
}

export { verifySignature as verify };
