import { keccak256 } from '../../../schema/digest.ts';

/** Hex with the prefix 0x, in lower case if this service encoded it. */
export type Hex = `0x${string}`;

export function hex(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes).toString('hex')}`;
}

export function bytes(value: string): Buffer {
  return Buffer.from(value.slice(2), 'hex');
}

/** Encodes values of static Solidity ABI types, each left-padded to 32 bytes. Returns hex without the prefix 0x. */
export function words(...values: readonly (bigint | number | Hex)[]): string {
  let digits = '';
  for (const value of values)
    digits += (typeof value === 'string' ? value.slice(2).toLowerCase() : value.toString(16)).padStart(64, '0');
  return digits;
}

/** Encodes the tail of a Solidity ABI `bytes`: its length, then the bytes, right-padded to whole words of 32 bytes. */
export function tail(value: Hex): string {
  const digits = value.slice(2).toLowerCase();
  return words(digits.length / 2) + digits.padEnd(Math.ceil(digits.length / 64) * 64, '0');
}

export function keccakText(text: string): Hex {
  return hex(keccak256(Buffer.from(text)));
}

/** Solidity function selector: the first four bytes of the signature's Keccak hash, as hex without the prefix 0x. */
export function selector(signature: string): string {
  return keccakText(signature).slice(2, 10);
}
