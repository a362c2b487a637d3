import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { jwksUri } from '../../../schema/links.ts';
import { type Addresses, addressesOf, linkFault } from './addresses.ts';
import { revocationOf } from './key-times.ts';
import { type DocumentVerification, type JudgedKind, judgeDocument } from './report.ts';
import type { Report } from './result.ts';
import { base64url, type Jwks, parseJws, verifyEs256 } from './signature.ts';
import { malformedDocument, type Rule, type SignedDocument, tokenFault, unless } from './signed-document.ts';

/* Documents that the issuer signs whole: `signature` (ES256) over the canonical JSON of every other member. */

export interface OpenedDocument {
  /** All that is signed: every member but `signature`. */
  readonly claims: JsonObject;
  readonly signature: JsonObject;
  readonly addresses: Addresses;
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
  { name: noun, rules, reportOn }: IssuerDocumentKind,
): DocumentVerification {
  const { signature, ...claims } = document;
  if (!isJsonObject(signature)) return malformedDocument(`This is not a ${noun}: signature is missing.`);
  const addresses = addressesOf(claims.iss, base_url, jwks);
  return judgeDocument({ claims, signature, addresses, jwks }, claims, {
    noun,
    rules: [signedWhole, keyNotRevoked, ...rules, issuersKeys],
    reportOn: () => reportOn(claims),
  });
}

const signedWhole: Rule<OpenedDocument> = {
  code: 'signature_invalid',
  says: 'The issuer signed these members (ES256 over canonical JSON).',
  fault: ({ claims, signature: { alg, kid, value }, jwks }) =>
    unless(
      alg === 'ES256' && verifyEs256(jwks, kid, canonicalJson(claims), base64url(value)),
      'No key of the key set verifies the signature: the document was altered, or another issuer signed it.',
    ),
};

/** Such a document is no leaf of the log: nothing but its own word says when it was signed. */
const keyNotRevoked: Rule<OpenedDocument> = {
  code: 'key_revoked',
  says: 'The signing key is not revoked.',
  fault: ({ signature: { kid }, jwks }) =>
    unless(
      revocationOf(jwks, kid) === null,
      'The signing key was revoked, and nothing proves that the document was signed before.',
    ),
};

const issuersKeys: Rule<OpenedDocument> = {
  code: 'link_foreign',
  says: "The key set is the issuer's.",
  fault: ({ claims: { verify_jwks }, addresses }) =>
    linkFault([{ name: 'verify_jwks', link: verify_jwks ?? null, path: jwksUri('') }], addresses),
};

/** A document whose `issuer_signature.jws` is a token over what it says; `payload` is that without the token's own claims. */
export interface TokenDocument extends SignedDocument {
  readonly jti: Json | undefined;
  readonly addresses: Addresses;
}

interface TokenDocumentKind extends JudgedKind<TokenDocument> {
  /** The sentence for a document that holds no token. */
  readonly missing: string;
}

/** Verifies one against a published key set, offline. */
export function verifyTokenDocument(
  document: JsonObject,
  jwks: Jwks,
  { base_url }: { readonly base_url?: string },
  kind: TokenDocumentKind,
): DocumentVerification {
  const token = tokenOf(document);
  const jws = parseJws(token);
  if (jws === null) return tokenFault(token, kind.missing);
  const { iss, iat: _, jti, ...payload } = jws.claims;
  const addresses = addressesOf(iss, base_url, jwks);
  return judgeDocument({ document, payload, jti, addresses, jws, jwks }, jws.claims, kind);
}

/** The `issuer_signature.jws` of a document, not yet parsed. */
export function tokenOf({ issuer_signature }: JsonObject): Json | undefined {
  return isJsonObject(issuer_signature) ? issuer_signature.jws : undefined;
}
