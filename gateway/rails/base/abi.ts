import { keccak256 } from '../../../schema/digest.ts';

/** 0x-prefixed hex; lower case if this service made it. */
export type Hex = `0x${string}`;

export function hex(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes).toString('hex')}`;
}

export function bytes(value: string): Buffer {
  return Buffer.from(value.slice(2), 'hex');
}

/** Solidity ABI, static types: each value left-padded to 32 bytes, as hex without prefix. */
export function words(...values: readonly (bigint | number | Hex)[]): string {
  let digits = '';
  for (const value of values)
    digits += (typeof value === 'string' ? value.slice(2).toLowerCase() : value.toString(16)).padStart(64, '0');
  return digits;
}

/** Solidity ABI, the tail of a `bytes`: its length, then the bytes, right-padded to whole words. */
export function tail(value: Hex): string {
  const digits = value.slice(2).toLowerCase();
  return words(digits.length / 2) + digits.padEnd(Math.ceil(digits.length / 64) * 64, '0');
}

export function keccakText(text: string): Hex {
  return hex(keccak256(Buffer.from(text)));
}

/** First four bytes of the signature's hash, without prefix. */
export function selector(signature: string): string {
  return keccakText(signature).slice(2, 10);
}
