import secp256k1 from 'secp256k1';
import type { Address } from 'viem';
import { keccak256 } from './digest.ts';
import { checksummedAddress } from './eip55.ts';

/* Addresses and signatures on secp256k1, Ethereum's curve. */

/** Half the order of the curve: above it the same signature has a second form, which Ethereum refuses (EIP-2). */
const S_MAX = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

export function isLowS(s: bigint): boolean {
  return s <= S_MAX;
}

/** The EIP-55 address of an uncompressed point (0x04, x, y): the last 20 bytes of keccak256 over x and y. */
export function addressOfPoint(point: Uint8Array): Address {
  return checksummedAddress(`0x${digitsOfPoint(point)}`);
}

/** The address of a private key of 32 bytes. */
export function addressOfKey(private_key: Uint8Array): Address {
  return addressOfPoint(secp256k1.publicKeyCreate(private_key, false));
}

/** EIP-191 version 0x45 (`personal_sign`): the digest that a wallet signs for a text. */
export function eip191Hash(text: string): Uint8Array {
  const message = Buffer.from(text);
  return keccak256(Buffer.concat([Buffer.from(`\x19Ethereum Signed Message:\n${message.length}`), message]));
}

/** The address whose key signed a digest (r, s: 64 bytes). Null if there is none. Native code, 0.05 ms. */
export function recoverAddress(digest: Uint8Array, compact: Uint8Array, recid: number): Address | null {
  const point = recoverPoint(digest, compact, recid);
  return point && addressOfPoint(point);
}

/** Whether the key of that address, in any spelling, signed. */
export function isSignedBy(address: string, digest: Uint8Array, compact: Uint8Array, recid: number): boolean {
  const point = recoverPoint(digest, compact, recid);
  return point !== null && digitsOfPoint(point) === address.slice(2).toLowerCase();
}

function digitsOfPoint(point: Uint8Array): string {
  return Buffer.from(keccak256(point.subarray(1)).subarray(12)).toString('hex');
}

function recoverPoint(digest: Uint8Array, compact: Uint8Array, recid: number): Uint8Array | null {
  try {
    return secp256k1.ecdsaRecover(compact, recid, digest, false);
  } catch {
    // The library throws if r or s is zero or beyond the order, or the point is not on the curve.
    return null;
  }
}
