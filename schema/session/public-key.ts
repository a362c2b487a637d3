import secp256k1 from 'secp256k1';
import { addressOfPoint, isLowS, isSignedBy } from '../secp256k1.ts';

/* The key of the agent of a session, and its signatures. */

/** Address of a public key in hex, compressed or not. Null if it is not a point of the curve. */
export function addressOfPublicKey(public_key: string): string | null {
  try {
    return addressOfPoint(secp256k1.publicKeyConvert(Buffer.from(public_key.slice(2), 'hex'), false));
  } catch {
    return null;
  }
}

/** r, s and v. The high form of s (EIP-2) is refused, so that an act has exactly one signature. */
export function isSignatureOfKey(address: string, digest: Uint8Array, signature: string): boolean {
  if (signature.length !== 132 || !isLowS(BigInt(`0x${signature.slice(66, 130)}`))) return false;
  const v = Number.parseInt(signature.slice(130), 16);
  const parity = v >= 27 ? v - 27 : v;
  if (parity !== 0 && parity !== 1) return false;
  return isSignedBy(address, digest, Buffer.from(signature.slice(2, 130), 'hex'), parity);
}
