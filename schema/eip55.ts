import type { Address } from 'viem';
import { keccak256 } from './digest.ts';

/**
 * An address of 40 hex digits in the spelling of EIP-55: a letter is upper-case where the hash of the lower-case digits has
 * 8 or more in its place. viem's is ten times as slow for one that it has not seen lately, and anybody may name new ones.
 */
export function spelt(address: string): Address {
  const digits = address.slice(2).toLowerCase();
  const hash = keccak256(Buffer.from(digits, 'latin1'));
  let text = '0x';
  for (let at = 0; at < digits.length; at++) {
    const byte = hash[at >> 1] as number;
    const upper = ((at & 1) === 0 ? byte >> 4 : byte & 0xf) >= 8;
    text += upper ? (digits[at] as string).toUpperCase() : digits[at];
  }
  return text as Address;
}
