import { decode, encode, rfc8949EncodeOptions, Tagged } from 'cborg';
import { COSE_ES256, COSE_SIGN1, coseHeader, cwtClaim, SIGNATURE1 } from '../../../schema/cose.ts';
import { isEarly, isLate, revocationOf } from './key-times.ts';
import { type Jwks, verifyEs256Bytes } from './signature.ts';

/** A COSE_Sign1 (RFC 9052 §4.2), split but not verified. */
export interface ParsedSign1 {
  readonly protected_header: Uint8Array;
  readonly header: ReadonlyMap<unknown, unknown>;
  readonly unprotected: ReadonlyMap<unknown, unknown>;
  /** Null if the payload is detached. */
  readonly payload: Uint8Array | null;
  readonly signature: Uint8Array;
}

/** Decoder options that accept only the deterministic encoding (RFC 8949 §4.2.1), so that each statement has one encoding. */
const strictly = {
  strict: true,
  useMaps: true,
  rejectDuplicateMapKeys: true,
  allowIndefinite: false,
  allowUndefined: false,
  allowBigInt: false,
} as const;

/** Decodes a data item. Null if the bytes are not the deterministic encoding of one. */
export function readCbor(bytes: Uint8Array): unknown {
  try {
    const item = decode(bytes, { ...strictly, tags: Tagged.preserve(COSE_SIGN1) });
    return Buffer.from(encode(item, rfc8949EncodeOptions)).equals(bytes) ? item : null;
  } catch {
    return null;
  }
}

/** Splits a tagged COSE_Sign1. Null if the bytes are not one, or require an extension that is not supported (RFC 9052 §3.1, crit). */
export function parseSign1(bytes: Uint8Array): ParsedSign1 | null {
  const item = readCbor(bytes);
  const parts: readonly unknown[] = item instanceof Tagged && Array.isArray(item.value) ? item.value : [];
  const [protected_header, unprotected, payload, signature] = parts;
  if (parts.length !== 4 || !isBytes(protected_header) || !isBytes(signature)) return null;
  const header = readCbor(protected_header);
  if (!(header instanceof Map) || !(unprotected instanceof Map) || !(payload === null || isBytes(payload))) return null;
  if (header.has(coseHeader.crit)) return null;
  return { protected_header, header, unprotected, payload, signature };
}

/** The bytes that the signature of a COSE_Sign1 covers (Sig_structure, RFC 9052 §4.4). The external data is empty. */
export function sigStructure(protected_header: Uint8Array, payload: Uint8Array): Uint8Array {
  return encode([SIGNATURE1, protected_header, new Uint8Array(), payload], rfc8949EncodeOptions);
}

/**
 * Whether a key of the key set made the signature (ES256).
 * @param payload the signed payload, attached or detached
 * @param kid kid of the key in bytes; by default the one in the protected header
 */
export function verifySign1(
  { protected_header, header, signature }: ParsedSign1,
  payload: Uint8Array,
  jwks: Jwks,
  kid: unknown = header.get(coseHeader.kid),
): boolean {
  if (header.get(coseHeader.alg) !== COSE_ES256 || !isBytes(kid)) return false;
  const signed = sigStructure(protected_header, payload);
  return verifyEs256Bytes(jwks, Buffer.from(kid).toString(), signed, Buffer.from(signature));
}

/** Issuer, subject and time (Unix seconds) of the signature; null if one of them is missing. */
export function cwtFacts({ header }: ParsedSign1) {
  // RFC 9597: CWT claims in the protected header.
  const claims: unknown = header.get(coseHeader.cwt_claims);
  if (!(claims instanceof Map)) return null;
  const [iss, sub, iat] = [cwtClaim.iss, cwtClaim.sub, cwtClaim.iat].map((label): unknown => claims.get(label));
  const told = typeof iss === 'string' && typeof sub === 'string' && Number.isSafeInteger(iat);
  return told ? { iss, sub, iat: Number(iat) } : null;
}

/**
 * The fault if the signing key of a message was not active at the time that the message states, or was revoked; null if there is none.
 * @param dated place of the payload in the log, which a key in force has signed; null if nothing shows such a place
 */
export function keyFault(message: ParsedSign1, jwks: Jwks, dated: { readonly leaf_index: number } | null) {
  const kid = message.header.get(coseHeader.kid);
  const named = isBytes(kid) ? Buffer.from(kid).toString() : '';
  const claims = { iat: cwtFacts(message)?.iat ?? 0 };
  const revoked = revocationOf(jwks, named);
  if (revoked !== null && !(dated !== null && dated.leaf_index < revoked.tree_size))
    return `The signing key was revoked at ${revoked.at}, and the payload was not in the log before others may have had that key.`;
  if (isEarly(jwks, named, claims)) return 'The statement was signed before its key was activated.';
  return isLate(jwks, named, claims) ? 'The statement was signed after its key was retired.' : null;
}

export const isBytes = (value: unknown): value is Uint8Array => value instanceof Uint8Array;
