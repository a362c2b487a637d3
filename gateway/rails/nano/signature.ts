import { twistedEdwards } from '@noble/curves/abstract/edwards';
import { ed25519 } from '@noble/curves/ed25519';
import { blake2b } from '@noble/hashes/blake2';

/* Nano signs by Ed25519 (RFC 8032) with BLAKE2b-512 in the place of SHA-512. */

const curve = twistedEdwards({ ...ed25519.CURVE, hash: blake2b });
const SIGNATURE = /^[0-9a-fA-F]{128}$/;

/** @param signature 128 hex digits; anything else is nobody's */
export function isSignedOnNano(key: Uint8Array, digest: Uint8Array, signature: string): boolean {
  if (!SIGNATURE.test(signature)) return false;
  try {
    // By RFC 8032 as it is written: no second spelling of a key or a point.
    return curve.verify(Buffer.from(signature, 'hex'), digest, key, { zip215: false });
  } catch {
    // The curve says by throwing that a key or a point is none.
    return false;
  }
}

/**
 * A text as Nano's wallets sign it (`tools.sign` of nanocurrency-web): its BLAKE2b-256. No block's hash is one of a text,
 * since what a block's is of begins with 31 bytes of zero.
 */
export function isTextSignedOnNano(key: Uint8Array, text: string, signature: string): boolean {
  return isSignedOnNano(key, blake2b(Buffer.from(text), { dkLen: 32 }), signature);
}
