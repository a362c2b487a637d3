import type { Address } from 'viem';
import { keccak256 } from './digest.ts';

/* The checksum spelling of addresses (EIP-55). */

/** The first test vector of EIP-55, for examples. */
export const EXAMPLE_ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

/**
 * An address of 40 hex digits in the spelling of EIP-55: a letter is upper-case if the hash of the lower-case digits
 * has 8 or more in its place. viem takes ten times as long for an address that it has not cached, and clients may send
 * new ones.
 */
export function checksummedAddress(address: string): Address {
  const digits = Buffer.from(address.slice(2).toLowerCase(), 'latin1');
  const hash = keccak256(digits);
  for (let at = 0; at < digits.length; at++) {
    const nibble = (hash[at >> 1] as number) >> ((at & 1) === 0 ? 4 : 0);
    const digit = digits[at] as number;
    if ((nibble & 0x8) !== 0 && digit >= LOWER_A) digits[at] = digit - TO_UPPER;
  }
  return `0x${digits.toString('latin1')}` as Address;
}

/** ASCII code of `a`, and its distance to `A`. */
const LOWER_A = 0x61;
const TO_UPPER = 0x20;
