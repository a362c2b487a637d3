const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** The bytes of a text in base58, in which each leading 1 is a zero byte. Null if the text is not base58, or too long. */
export function decodedBase58(text: string): Uint8Array | null {
  if (!/^[1-9A-HJ-NP-Za-km-z]{1,100}$/.test(text)) return null;
  const value = [...text].reduce((sum, digit) => sum * 58n + BigInt(BASE58.indexOf(digit)), 0n);
  const zeros = /^1*/.exec(text)?.[0].length ?? 0;
  const hex = value === 0n ? '' : value.toString(16);
  return Buffer.concat([Buffer.alloc(zeros), Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')]);
}

/** Number of bytes of a base58 text. Null if it is not base58, or too long. */
export function bytesInBase58(text: string): number | null {
  return decodedBase58(text)?.length ?? null;
}
