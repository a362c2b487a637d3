import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils';

/*
 * The second verifier: the checks of receipts and audit documents, written independently from the published texts with no dependency but
 * @noble. It shares no code with the service or with the verifier that it is compared to.
 */

export type Value = string | number | boolean | null | readonly Value[] | Members;
export interface Members {
  readonly [name: string]: Value;
}

export const utf8 = utf8ToBytes;
export const hex = bytesToHex;
export const joined = concatBytes;
export const sha = (bytes: Uint8Array): Uint8Array => sha256(bytes);
export const shaText = (text: string): string => hex(sha(utf8(text)));

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The canonical form by RFC 8785. @throws if the value has none */
export function jcs(value: Value): string {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error('no number of JSON');
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return `[${value.map(jcs).join(',')}]`;
  if (!isMembers(value)) return JSON.stringify(value);
  // JavaScript compares strings by their UTF-16 code units, as section 3.2.3 requires.
  const names = Object.keys(value).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${names.map(name => `${text(name)}:${jcs(value[name] as Value)}`).join(',')}}`;
}

function text(value: string): string {
  if (!value.isWellFormed()) throw new Error('a lone surrogate');
  return JSON.stringify(value);
}

/** Compares two JSON values. False if either is undefined. */
export function equal(one: Value | undefined, other: Value | undefined): boolean {
  return one !== undefined && other !== undefined && jcs(one) === jcs(other);
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Decodes base64 strictly (RFC 4648): only letters of the alphabet, no stray bits, and padding exactly if `padded`. */
function base64In(value: unknown, alphabet: string, padded: boolean): Uint8Array | null {
  if (typeof value !== 'string') return null;
  const letters = padded ? value.replace(/={1,2}$/, '') : value;
  if (padded ? value.length % 4 !== 0 : false) return null;
  if (letters.length % 4 === 1 || (padded && value.length - letters.length !== (4 - (letters.length % 4)) % 4))
    return null;
  const bytes = new Uint8Array(Math.floor((letters.length * 6) / 8));
  let [held, bits, at] = [0, 0, 0];
  for (const letter of letters) {
    const digit = alphabet.indexOf(letter);
    if (digit < 0) return null;
    held = ((held << 6) | digit) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = (held >> bits) & 0xff;
    }
  }
  return (held & ((1 << bits) - 1)) === 0 ? bytes : null;
}

export const base64url = (value: unknown) => base64In(value, `${ALPHABET}-_`, false);
export const base64 = (value: unknown) => base64In(value, `${ALPHABET}+/`, true);

/** Decodes a hash of 32 bytes in lower-case hex. */
export function hash(value: unknown): Uint8Array | null {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value) ? hexToBytes(value) : null;
}

export function jsonIn(bytes: Uint8Array | null): Members | null {
  try {
    const value: unknown = bytes && JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return isMembers(value) ? value : null;
  } catch {
    return null;
  }
}
