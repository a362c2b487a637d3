const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Of how many bytes a text in base58 is, in which a leading 1 is a byte of its own; null where it is none, or too long. */
export function bytesInBase58(text: string): number | null {
  if (!/^[1-9A-HJ-NP-Za-km-z]{1,100}$/.test(text)) return null;
  const value = [...text].reduce((sum, digit) => sum * 58n + BigInt(BASE58.indexOf(digit)), 0n);
  const zeros = /^1*/.exec(text)?.[0].length ?? 0;
  return zeros + (value === 0n ? 0 : Math.ceil(value.toString(16).length / 2));
}
