import { canonicalJson, isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { jwksUri } from '../../../schema/links.ts';
import { revocationOf } from './key-times.ts';
import type { Report } from './report.ts';
import { base64url, type Jwks, verifyEs256 } from './signature.ts';
import { type Check, type Invalid, judgeBy, malformedDocument, type Rule, unless } from './signed.ts';

/* Documents that the issuer signs whole: `signature` (ES256) over the canonical JSON of every other member. */

export type IssuerDocumentVerification =
  | { readonly kind: 'valid'; readonly claims: JsonObject; readonly checks: readonly Check[]; readonly report: Report }
  | Invalid;

export interface OpenedDocument {
  /** All that is signed: every member but `signature`. */
  readonly claims: JsonObject;
  readonly signature: JsonObject;
  /** Origins on which its links may stand: the signed issuer, and where the caller found it. */
  readonly bases: readonly string[];
  readonly jwks: Jwks;
}

/** A kind of such documents: how it is called in a sentence, by what it is judged, and what it leaves open once it has passed. */
interface IssuerDocumentKind {
  readonly name: string;
  /** Between the signature and the link to the key set. */
  readonly rules: readonly Rule<OpenedDocument>[];
  reportOn(claims: JsonObject): Report;
}

/** Verifies one against a published key set, offline. */
export function verifyIssuerDocument(
  document: JsonObject,
  jwks: Jwks,
  { base_url }: { readonly base_url?: string },
  { name, rules, reportOn }: IssuerDocumentKind,
): IssuerDocumentVerification {
  const { signature, ...claims } = document;
  if (!isJsonObject(signature)) return malformedDocument(`This is no ${name}: signature is missing.`);
  const bases = [claims.iss, base_url].filter(base => typeof base === 'string');
  try {
    const judged = judgeBy([signedWhole, keyNotRevoked, ...rules, issuersKeys], { claims, signature, bases, jwks });
    if (judged.kind === 'invalid') return judged;
    return { kind: 'valid', claims, checks: judged.checks, report: reportOn(claims) };
  } catch (fault) {
    // Only text without a canonical form gets here.
    return malformedDocument(`The ${name} has no canonical form: ${String(fault)}`);
  }
}

const signedWhole: Rule<OpenedDocument> = {
  code: 'signature_invalid',
  says: 'The issuer signed these members (ES256 over canonical JSON).',
  fault: ({ claims, signature: { alg, kid, value }, jwks }) =>
    unless(
      alg === 'ES256' && verifyEs256(jwks, kid, canonicalJson(claims), base64url(value)),
      'No key of the set verifies the signature: something in it was altered, or another issuer signed it.',
    ),
};

/** Such a document is no leaf of the log: nothing but its own word says when it was signed. */
const keyNotRevoked: Rule<OpenedDocument> = {
  code: 'key_revoked',
  says: 'Its key was not revoked.',
  fault: ({ signature: { kid }, jwks }) =>
    unless(revocationOf(jwks, kid) === null, 'Its key was revoked, and nothing says that it was signed before.'),
};

const issuersKeys: Rule<OpenedDocument> = {
  code: 'link_foreign',
  says: "The key set is the issuer's.",
  fault: ({ claims, bases }) =>
    unless(
      bases.some(base => claims.verify_jwks === jwksUri(base)),
      'verify_jwks leads elsewhere than to the issuer.',
    ),
};
