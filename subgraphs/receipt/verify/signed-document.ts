import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { isEarly, isLate, revocationOf } from './key-times.ts';
import {
  base64url,
  hasUnknownExtensions,
  type Jwks,
  keysIn,
  type ParsedJws,
  splitJws,
  verifyEs256,
} from './signature.ts';

/** The parts of a document that are checked in the same way in all documents with a token of the issuer. */
export interface SignedDocument {
  readonly document: JsonObject;
  readonly payload: JsonObject;
  readonly jws: ParsedJws;
  readonly jwks: Jwks;
  /** True if the caller proves with the log that the document was signed before its key was revoked, if it was. */
  readonly dated_by_log?: boolean;
}

export interface Rule<Opened> {
  readonly code: string;
  /** The sentence that says what is known once the rule has passed. */
  readonly says: string;
  /** The sentence that says what is wrong, with its own code if it differs from the rule's. Null if nothing is wrong. */
  readonly fault: (opened: Opened) => string | Check | null;
}

export interface Check {
  readonly code: string;
  readonly sentence: string;
}

/** The first check that failed. `checks` are those that passed before it. */
export type Invalid = { readonly kind: 'invalid'; readonly checks: readonly Check[] } & Check;

/** Checks the rules in order until one fails, because each rule may rely on all before it. */
export function judgeBy<Opened>(
  rules: readonly Rule<Opened>[],
  opened: Opened,
): Invalid | { readonly kind: 'held'; readonly checks: readonly Check[] } {
  const checks: Check[] = [];
  for (const { code, says, fault } of rules) {
    const found = fault(opened);
    if (found !== null)
      return { kind: 'invalid', ...(typeof found === 'string' ? { code, sentence: found } : found), checks };
    checks.push({ code, sentence: says });
  }
  return { kind: 'held', checks };
}

export function malformedDocument(sentence: string): Invalid {
  return { kind: 'invalid', code: 'malformed', sentence, checks: [] };
}

export const unless = (holds: boolean, sentence: string): string | null => (holds ? null : sentence);

/** The fault of a document whose token cannot be read. @param otherwise the sentence if the token is missing or malformed */
export function tokenFault(jws: Json | undefined, otherwise: string): Invalid {
  const split = splitJws(jws);
  if (split === null || !hasUnknownExtensions(split)) return malformedDocument(otherwise);
  const sentence = 'The JWS header requires an extension (crit or b64) that this verifier does not support.';
  return { kind: 'invalid', code: 'header_refused', sentence, checks: [] };
}

const countOf = (jwks: Jwks, kid: Json | undefined) => keysIn(jwks).filter(key => key.kid === kid).length;

/**
 * Rules that one key of the key set signed the token while that key was active. The header of a token never chooses the algorithm or the
 * key: `jku`, `x5u`, `x5c` and `jwk` are not used (RFC 8725 §3.1, §3.10).
 */
export const issuerSigned: readonly Rule<SignedDocument>[] = [
  {
    code: 'algorithm_refused',
    says: 'The signature algorithm is ES256, the only one that is accepted.',
    fault: ({ jws: { header } }) =>
      unless(header.alg === 'ES256', 'The signature algorithm is not ES256, the only one that is accepted.'),
  },
  {
    code: 'key_ambiguous',
    says: 'The key set has at most one key with the kid of the signature.',
    fault: ({ jws: { header }, jwks }) =>
      unless(
        countOf(jwks, header.kid) < 2,
        'Two keys of the key set have the kid of the signature, so it is not clear which one signed.',
      ),
  },
  {
    code: 'signature_invalid',
    says: 'The issuer signed these claims (ES256).',
    fault: ({ jws: { header, input, signature }, jwks }) =>
      unless(
        verifyEs256(jwks, header.kid, input, signature),
        'No key of the key set verifies the signature: the document was altered, or the key set is not that of its issuer.',
      ),
  },
  {
    code: 'key_not_active',
    says: 'The document was signed after its key was activated.',
    fault: ({ jws: { header, claims }, jwks }) =>
      unless(!isEarly(jwks, header.kid, claims), 'The document was signed before its key was activated.'),
  },
  {
    code: 'key_retired',
    says: 'The document was signed before its key was retired, if it was.',
    fault: ({ jws: { header, claims }, jwks }) =>
      unless(!isLate(jwks, header.kid, claims), 'The document was signed after its key was retired.'),
  },
  {
    code: 'key_revoked',
    says: 'The signing key is not revoked, or the log shows when the document was signed.',
    fault: ({ jws: { header }, jwks, dated_by_log }) => (dated_by_log ? null : revokedFault(jwks, header.kid)),
  },
];

/**
 * The same rules for a document that states its time, is not in the log, and is shown for as long as the service exists. If only the
 * document itself says that it was signed before its key was revoked, it is neither valid nor invalid.
 */
export const issuerRules: readonly Rule<SignedDocument>[] = [
  ...issuerSigned.filter(({ code }) => code !== 'key_revoked'),
  {
    code: 'key_revoked',
    says: 'The signing key is not revoked.',
    fault: ({ jws: { header, claims }, jwks }) => undatedFault(jwks, header.kid, claims.iat),
  },
];

/**
 * Fault of a document that is not in the log and whose key was revoked. Null if the key was not revoked.
 * @param at_seconds time that the document states (Unix seconds), not checked yet. If it is not a number, the document states no time
 */
export function undatedFault(jwks: Jwks, kid: Json | undefined, at_seconds: Json | undefined): string | Check | null {
  const revoked = revocationOf(jwks, kid);
  if (revoked === null) return null;
  const later = typeof at_seconds === 'number' && !(at_seconds * 1000 <= Date.parse(revoked.at));
  if (later) return `The document was signed after its key was revoked at ${revoked.at}.`;
  return {
    code: 'needs_history',
    sentence: `The signing key was revoked at ${revoked.at}. Nothing proves that the document was signed before that, because anyone who has the key can state any time.`,
  };
}

/** The fault of a receipt if the key of that kid was revoked; null if it was not. Only the log can then show when it was signed. */
export function revokedFault(jwks: Jwks, kid: Json | undefined): string | null {
  const revoked = revocationOf(jwks, kid);
  if (revoked === null) return null;
  return `The signing key was revoked at ${revoked.at}. Only the log can show that the receipt was signed before that: verify its audit document (?format=auditor).`;
}

/** Rule about the raw signature value. Early receipts have none; if a document has one, it must verify. */
export const rawValueSigns = ({ required }: { readonly required: boolean }): Rule<SignedDocument> => ({
  code: 'value_invalid',
  says: 'issuer_signature.value, if present, is an ES256 signature of the canonical payload by the same key.',
  fault: ({ document, payload, jwks, jws }) => {
    const { kid, value, alg } = isJsonObject(document.issuer_signature) ? document.issuer_signature : {};
    const named = kid === jws.header.kid && alg === 'ES256';
    const absent = value === undefined && !required;
    const signed = absent || verifyEs256(jwks, kid, canonicalJson(payload), base64url(value));
    return unless(
      named && signed,
      'issuer_signature.value is not an ES256 signature of the payload by the key of the JWS.',
    );
  },
});
