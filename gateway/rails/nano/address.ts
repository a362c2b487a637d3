import { blake2b } from '@noble/hashes/blake2';

/* A Nano address: `nano_`, the public key in 52 digits of base 32, and 8 more of its checksum. */

const DIGITS = '13456789abcdefghijkmnopqrstuwxyz';
const ADDRESS = /^(?:nano|xrb)_([13][13456789abcdefghijkmnopqrstuwxyz]{51})([13456789abcdefghijkmnopqrstuwxyz]{8})$/;
const KEY_BYTES = 32;
const CHECKSUM_BYTES = 5;
const DIGIT_BITS = 5n;

/** The public key of an address, `nano_` or of old `xrb_`; null where it is none, or its checksum is another's. */
export function keyOfNanoAddress(address: string): Buffer | null {
  const [, digits, checksum] = ADDRESS.exec(address) ?? [];
  if (digits === undefined || checksum === undefined) return null;
  // 52 digits are 260 bits: the first four are none of the key's, and `1` or `3` in its place leaves them empty.
  const key = bytesOf(digits, KEY_BYTES);
  return checksumOf(key) === checksum ? key : null;
}

/** @param key of 32 bytes */
export function nanoAddressOf(key: Uint8Array): string {
  return `nano_${digitsOf(key, 52)}${checksumOf(key)}`;
}

function checksumOf(key: Uint8Array): string {
  return digitsOf(blake2b(key, { dkLen: CHECKSUM_BYTES }).reverse(), 8);
}

function bytesOf(digits: string, length: number): Buffer {
  let value = 0n;
  for (const digit of digits) value = (value << DIGIT_BITS) | BigInt(DIGITS.indexOf(digit));
  return Buffer.from(value.toString(16).padStart(2 * length, '0'), 'hex');
}

function digitsOf(bytes: Uint8Array, length: number): string {
  let value = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let digits = '';
  for (let at = 0; at < length; at++) {
    digits = DIGITS.charAt(Number(value & 31n)) + digits;
    value >>= DIGIT_BITS;
  }
  return digits;
}
