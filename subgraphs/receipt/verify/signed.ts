import { canonicalJson, isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { base64url, type Jwks, type ParsedJws, verifyEs256 } from './signature.ts';

/** What is checked alike of everything that the issuer signs: receipts and refusals. */
export interface Signed {
  readonly document: JsonObject;
  readonly payload: JsonObject;
  readonly jws: ParsedJws;
  readonly jwks: Jwks;
}

export interface Rule<Opened> {
  readonly code: string;
  /** What is known once the rule has passed. */
  readonly says: string;
  /** The sentence that tells what is wrong; null where nothing is. */
  readonly fault: (opened: Opened) => string | null;
}

export interface Check {
  readonly code: string;
  readonly sentence: string;
}

/** `checks` are those that passed before the one that did not. */
export type Invalid = { readonly kind: 'invalid'; readonly checks: readonly Check[] } & Check;

/** In order, until one does not hold: a later rule may rely on all before it. */
export function judgeBy<Opened>(
  rules: readonly Rule<Opened>[],
  opened: Opened,
): Invalid | { readonly kind: 'held'; readonly checks: readonly Check[] } {
  const checks: Check[] = [];
  for (const { code, says, fault } of rules) {
    const sentence = fault(opened);
    if (sentence !== null) return { kind: 'invalid', code, sentence, checks };
    checks.push({ code, sentence: says });
  }
  return { kind: 'held', checks };
}

export function malformed(sentence: string): Invalid {
  return { kind: 'invalid', code: 'malformed', sentence, checks: [] };
}

export const unless = (holds: boolean, sentence: string): string | null => (holds ? null : sentence);

export const issuerSigned: Rule<Signed> = {
  code: 'signature_invalid',
  says: 'The issuer signed these claims (ES256).',
  fault: ({ jws: { header, input, signature }, jwks }) =>
    unless(
      header.alg === 'ES256' && verifyEs256(jwks, header.kid, input, signature),
      'No key of the set verifies the JWS.',
    ),
};

/** Early receipts carry no raw value; whatever carries one is held to it. */
export const rawValueSigns = ({ required }: { readonly required: boolean }): Rule<Signed> => ({
  code: 'value_invalid',
  says: 'The raw ES256 value signs the canonical payload.',
  fault: ({ document, payload, jwks, jws }) => {
    const { kid, value, alg } = isJsonObject(document.issuer_signature) ? document.issuer_signature : {};
    const named = kid === jws.header.kid && alg === 'ES256';
    const absent = value === undefined && !required;
    const signed = absent || verifyEs256(jwks, kid, canonicalJson(payload), base64url(value));
    return unless(named && signed, 'issuer_signature names another key, or its value does not sign the payload.');
  },
});
