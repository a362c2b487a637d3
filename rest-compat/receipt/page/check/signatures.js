import { bytesOf, fromBase64, fromBase64url, hexOf, joined, sha256Of } from './bytes.js';

/* Signatures by WebCrypto. A key set is that of the evidence: whose it is nobody can tell from here. */

/** @type {Record<string, readonly string[]>} */
const algorithms = { 'P-256': ['ES256'], Ed25519: ['Ed25519', 'EdDSA'] };

/** The one key of that kid (RFC 7517 §4.5), if it says that it is for this. @param {any} keys @param {unknown} kid @returns {any} */
export function keyNamed(keys, kid) {
  const [found, ...others] = keys?.keys?.filter((/** @type {any} */ key) => key.kid === kid) ?? [];
  if (!found) throw new Error(`no key ${String(kid)} came along`);
  if (others.length > 0) throw new Error(`two keys came along as ${String(kid)}`);
  return found;
}

/** @param {any} keys @param {unknown} kid @param {string} crv */
function jwkOf(keys, kid, crv) {
  const found = keyNamed(keys, kid);
  const { alg = algorithms[crv]?.[0], use = 'sig', key_ops = ['verify'] } = found;
  const fits = found.crv === crv && algorithms[crv]?.includes(alg) && use === 'sig' && key_ops.includes('verify');
  if (!fits) throw new Error(`the key ${String(kid)} is not for ${crv}`);
  return found;
}

/** RFC 7518 §3.4: r and s side by side. @param {any} keys @param {unknown} kid @param {string} text @param {Uint8Array<ArrayBuffer> | null} signature */
export async function isEs256(keys, kid, text, signature) {
  if (signature?.length !== 64) return false;
  const { kty, crv, x, y } = jwkOf(keys, kid, 'P-256');
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const key = await crypto.subtle.importKey('jwk', { kty, crv, x, y }, algorithm, false, ['verify']);
  return crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, signature, bytesOf(text));
}

/** Null where this browser has no Ed25519. @param {Uint8Array<ArrayBuffer> | null} raw @param {string} text @param {Uint8Array<ArrayBuffer> | null} signature */
export async function isEd25519(raw, text, signature) {
  if (raw?.length !== 32 || signature?.length !== 64) return false;
  const key = await crypto.subtle.importKey('raw', raw, { name: 'Ed25519' }, false, ['verify']).catch(() => null);
  return key && crypto.subtle.verify({ name: 'Ed25519' }, key, signature, bytesOf(text));
}

/** @param {any} keys @param {any} signature @param {string} text */
export async function isSignedByEd25519(keys, signature, text) {
  if (signature?.alg !== 'Ed25519') return false;
  return isEd25519(fromBase64url(jwkOf(keys, signature.kid, 'Ed25519').x), text, fromBase64url(signature.value));
}

/** Splits a compact JWS; null where it is none. Nothing of it is believed yet. @param {unknown} jws @returns {any} */
export function openJws(jws) {
  const [head = '', body = '', tail = '', ...more] = String(jws).split('.');
  const [header, claims, signature] = [jsonIn(head), jsonIn(body), fromBase64url(tail)];
  if (more.length > 0 || !header || !claims || !signature) return null;
  // RFC 7515 §4.1.11, RFC 7797 §6: extensions that must be understood, and are not.
  if (header.crit !== undefined || header.b64 !== undefined) return null;
  return { header, claims, signature, input: `${head}.${body}` };
}

/** @param {string} text */
function jsonIn(text) {
  const bytes = fromBase64url(text);
  try {
    return bytes && JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
}

/** ES256 and nothing else: what a header says of itself chooses no algorithm. @param {any} keys @param {any} jws */
export async function isIssued(keys, jws) {
  return jws?.header.alg === 'ES256' && (await isEs256(keys, jws.header.kid, jws.input, jws.signature));
}

/**
 * A checkpoint by one of the keys that were not revoked (https://c2sp.org/signed-note, tlog-checkpoint). Null where this browser has no Ed25519.
 * @param {any} keys @param {unknown} note @param {string} origin @returns {Promise<{size: string, root: Uint8Array<ArrayBuffer>} | false | null>}
 */
export async function openNote(keys, note, origin) {
  const [text = '', lines = '', ...more] = String(note).split('\n\n');
  const [name, size = '', root = '', ...rest] = text.split('\n');
  const hash = fromBase64(root);
  if (more.length > 0 || name !== origin || rest.length > 0 || hash?.length !== 32) return false;
  for (const line of lines.split('\n')) {
    const [, signer, value = ''] = /^\u2014 (\S+) (\S+)$/.exec(line) ?? [];
    const bytes = signer === origin ? fromBase64(value) : null;
    if (!bytes) continue;
    const signed = await isNoteSigned(keys, `${text}\n`, origin, bytes);
    if (signed !== false) return signed && { size, root: hash };
  }
  return false;
}

/** @param {any} keys @param {string} text @param {string} origin @param {Uint8Array} bytes four of the key id, then the signature */
async function isNoteSigned(keys, text, origin, bytes) {
  for (const { crv, x, revoked } of keys?.keys ?? []) {
    const raw = crv === 'Ed25519' && revoked === undefined ? fromBase64url(x) : null;
    if (!raw) continue;
    const id = (await sha256Of(bytesOf(`${origin}\n`), Uint8Array.of(1), raw)).slice(0, 4);
    if (hexOf(id) === hexOf(bytes.slice(0, 4))) return isEd25519(raw, text, joined(bytes.slice(4)));
  }
  return false;
}
