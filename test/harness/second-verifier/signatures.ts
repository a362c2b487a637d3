import { ed25519 } from '@noble/curves/ed25519';
import { p256 } from '@noble/curves/nist';
import { secp256k1 } from '@noble/curves/secp256k1';
import { keccak_256 } from '@noble/hashes/sha3';
import { base64url, hex, isMembers, joined, jsonIn, type Members, sha, utf8, type Value } from './bytes.ts';

/* Checks signatures by ES256, Ed25519 and EIP-191 for the second verifier, with a published key set. */

export interface Token {
  readonly header: Members;
  readonly claims: Members;
  readonly input: string;
  readonly signature: Uint8Array;
}

/** Splits a compact JWS (RFC 7515 section 7.1). */
export function tokenIn(value: unknown): Token | null {
  const parts = typeof value === 'string' ? value.split('.') : [];
  const [head = '', body = '', tail = ''] = parts;
  const [header, claims, signature] = [jsonIn(base64url(head)), jsonIn(base64url(body)), base64url(tail)];
  if (parts.length !== 3 || !header || !claims || !signature || header.crit !== undefined) return null;
  return { header, claims, input: `${head}.${body}`, signature };
}

const keysOf = (keys: Members): readonly Members[] => (Array.isArray(keys.keys) ? keys.keys.filter(isMembers) : []);
const keyOf = (keys: Members, kid: unknown, crv: string) =>
  keysOf(keys).find(key => key.kid === kid && key.crv === crv);
const coordinate = (value: unknown) => {
  const bytes = base64url(value);
  return bytes?.length === 32 ? bytes : null;
};

function attempt(verifies: () => boolean): boolean {
  try {
    return verifies();
  } catch {
    return false;
  }
}

export function isEs256(keys: Members, kid: unknown, text: string, signature: Uint8Array | null): boolean {
  const { x, y } = keyOf(keys, kid, 'P-256') ?? {};
  const [left, right] = [coordinate(x), coordinate(y)];
  if (!left || !right || signature?.length !== 64) return false;
  const point = joined(Uint8Array.of(4), left, right);
  return attempt(() => p256.verify(signature, sha(utf8(text)), point, { lowS: false }));
}

/** Accepts only ES256, so that a header cannot choose another algorithm. */
export const isTokenSigned = (keys: Members, token: Token) =>
  token.header.alg === 'ES256' && isEs256(keys, token.header.kid, token.input, token.signature);

/** Seconds by which two clocks may differ. */
const CLOCK_SECONDS = 60;

/** Whether a token was signed in its key's time (`nbf` and `exp` in the key set). A key without these may sign at any time. */
export function isWithinKeyTime(keys: Members, { header, claims }: Token): boolean {
  const { nbf, exp } = keysOf(keys).find(({ kid }) => kid === header.kid) ?? {};
  if (nbf === undefined && exp === undefined) return true;
  const { iat, payload_version } = claims;
  if (typeof iat !== 'number') return payload_version === 8;
  return !(typeof nbf === 'number' && iat + CLOCK_SECONDS < nbf) && !(typeof exp === 'number' && iat > exp);
}

export function isEd25519(keys: Members, signature: Value | undefined, text: string): boolean {
  if (!isMembers(signature) || signature.alg !== 'Ed25519') return false;
  const key = coordinate(keyOf(keys, signature.kid, 'Ed25519')?.x);
  const value = base64url(signature.value);
  if (!key || value?.length !== 64) return false;
  return attempt(() => ed25519.verify(value, utf8(text), key, { zip215: false }));
}

export const ed25519Keys = (keys: Members) =>
  keysOf(keys).flatMap(({ crv, x }) => (crv === 'Ed25519' ? (coordinate(x) ?? []) : []));

export const isNoteSigned = (key: Uint8Array, text: string, signature: Uint8Array) =>
  attempt(() => ed25519.verify(signature, utf8(text), key, { zip215: false }));

export function isEip191(keys: Members, signature: Value | undefined, text: string): boolean {
  if (!isMembers(signature) || signature.alg !== 'secp256k1-eip191') return false;
  const { value, address } = signature;
  if (typeof value !== 'string' || !/^0x[0-9a-f]{128}(1b|1c)$/.test(value)) return false;
  const message = joined(utf8(`\x19Ethereum Signed Message:\n${utf8(text).length}`), utf8(text));
  return attempt(() => {
    const compact = secp256k1.Signature.fromCompact(value.slice(2, 130)).addRecoveryBit(value.endsWith('1c') ? 1 : 0);
    const signer = addressOf(compact.recoverPublicKey(keccak_256(message)).toRawBytes(false));
    return signer === address && published(keys).includes(signer);
  });
}

const published = (keys: Members) =>
  keysOf(keys).flatMap(({ crv, x, y }) => {
    const [left, right] = [coordinate(x), coordinate(y)];
    return crv === 'secp256k1' && left && right ? [addressOf(joined(Uint8Array.of(4), left, right))] : [];
  });

/** Address of a public key with the checksum of EIP-55. */
function addressOf(point: Uint8Array): string {
  const digits = hex(keccak_256(point.subarray(1)).subarray(12));
  const marks = hex(keccak_256(utf8(digits)));
  return `0x${Array.from(digits, (digit, at) => (Number.parseInt(marks[at] ?? '0', 16) >= 8 ? digit.toUpperCase() : digit)).join('')}`;
}

/** Hash of the signature of an event, which is its topic on the chain. */
export const keccakHex = (text: string) => hex(keccak_256(utf8(text)));
