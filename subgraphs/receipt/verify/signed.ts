import { canonicalJson, isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { base64url, type Jwks, type ParsedJws, verifyEs256 } from './signature.ts';

/** What is checked alike of everything that the issuer signs: receipts and refusals. */
export interface SignedDocument {
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

export function malformedDocument(sentence: string): Invalid {
  return { kind: 'invalid', code: 'malformed', sentence, checks: [] };
}

export const unless = (holds: boolean, sentence: string): string | null => (holds ? null : sentence);

export const issuerSigned: Rule<SignedDocument> = {
  code: 'signature_invalid',
  says: 'The issuer signed these claims (ES256).',
  fault: ({ jws: { header, input, signature }, jwks }) =>
    unless(
      header.alg === 'ES256' && verifyEs256(jwks, header.kid, input, signature),
      'No key of the set verifies the JWS.',
    ),
};

/** Early receipts carry no raw value; whatever carries one is held to it. */
export const rawValueSigns = ({ required }: { readonly required: boolean }): Rule<SignedDocument> => ({
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

/** The sentence for the first link that leads to none of the issuer's origins; a link that is not there leads nowhere. */
export function foreignLink(
  document: JsonObject,
  {
    own,
    bases,
    linksAt,
  }: {
    /** The link of the document itself; all others stand in `verification`. */
    readonly own: string;
    readonly bases: readonly string[];
    linksAt(base: string): Readonly<Record<string, string>>;
  },
): string | null {
  const within = isJsonObject(document.verification) ? document.verification : {};
  const expected = bases.map(linksAt);
  const foreign = Object.keys(linksAt('')).find(name => {
    const link = name === own ? document[name] : within[name];
    return link !== undefined && !expected.some(links => link === links[name]);
  });
  return foreign === undefined ? null : `${foreign} leads elsewhere than to the issuer.`;
}
