/*
 * Texts, bytes and hashes as the page needs them, by what every browser brings. None of this is shared with whoever signs.
 */

const utf8 = new TextEncoder();

/** @param {string} text @returns {Uint8Array<ArrayBuffer>} */
export const bytesOf = text => utf8.encode(text);

/** Strict: null for what is no base64url without padding (RFC 4648 §5), or does not encode back to itself. @param {unknown} text */
export function fromBase64url(text) {
  if (typeof text !== 'string' || !/^[A-Za-z0-9_-]*$/.test(text)) return null;
  const bytes = fromBase64(
    `${text.replaceAll('-', '+').replaceAll('_', '/')}${'='.repeat((4 - (text.length % 4)) % 4)}`,
  );
  const again = bytes && toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  return again === text ? bytes : null;
}

/** @param {string} text @returns {Uint8Array<ArrayBuffer> | null} */
export function fromBase64(text) {
  try {
    return Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  } catch {
    return null;
  }
}

/** @param {Uint8Array} bytes */
export const toBase64 = bytes => btoa(String.fromCharCode(...bytes));

/** @param {Uint8Array} bytes */
export const hexOf = bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');

/** A hash of 32 bytes. @param {unknown} hex @returns {Uint8Array<ArrayBuffer>} */
export function hashOf(hex) {
  if (typeof hex !== 'string' || !/^[0-9a-f]{64}$/.test(hex)) throw new Error('a hash is not in its form');
  return Uint8Array.from(hex.match(/../g) ?? [], byte => Number.parseInt(byte, 16));
}

/** @param {...Uint8Array} parts @returns {Promise<Uint8Array<ArrayBuffer>>} */
export async function sha256Of(...parts) {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', joined(...parts)));
}

/** @param {...Uint8Array} parts */
export function joined(...parts) {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** RFC 8785: members in the order of their UTF-16 code units, numbers and texts as ECMAScript writes them. @param {any} value @returns {string} */
export function canonicalText(value) {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map(name => `${JSON.stringify(name)}:${canonicalText(value[name])}`).join()}}`;
}

/** Of two values of JSON; what is not there is the same as nothing. @param {any} one @param {any} other */
export function isSameJson(one, other) {
  if (one === undefined || other === undefined) return one === other;
  return canonicalText(one) === canonicalText(other);
}

/** @param {any} value */
export const hashOfJson = async value => hexOf(await sha256Of(bytesOf(canonicalText(value))));
