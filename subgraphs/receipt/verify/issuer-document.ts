import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { jwksUri } from '../../../schema/links.ts';
import { type Addresses, addressesOf, linkFault } from './addresses.ts';
import { revocationOf } from './key-times.ts';
import { type DocumentVerification, type JudgedKind, judgeDocument } from './report.ts';
import type { Report } from './result.ts';
import { base64url, type Jwks, parseJws, verifyEs256 } from './signature.ts';
import { malformedDocument, type Rule, type SignedDocument, tokenFault, unless } from './signed-document.ts';

/* Verifies documents of an issuer: those with `signature` (ES256) over the canonical JSON of all other members, and those with a token. */

export interface OpenedDocument {
  /** The signed content: every member except `signature`. */
  readonly claims: JsonObject;
  readonly signature: JsonObject;
  readonly addresses: Addresses;
  readonly jwks: Jwks;
}

/** A kind of documents with `signature`: its name in sentences, its rules, and what a valid document of it leaves open. */
interface IssuerDocumentKind {
  readonly name: string;
  /** Rules that are checked after the signature and before the link to the key set. */
  readonly rules: readonly Rule<OpenedDocument>[];
  reportOn(claims: JsonObject): Report;
}

/** Verifies a document with `signature` against a published key set, offline. */
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

/** A revoked key is always a fault: such a document is not in the log, so only the document itself states when it was signed. */
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

/** A document whose `issuer_signature.jws` is a token that signs its content. `payload`: the claims without iss, iat and jti. */
export interface TokenDocument extends SignedDocument {
  readonly jti: Json | undefined;
  readonly addresses: Addresses;
}

interface TokenDocumentKind extends JudgedKind<TokenDocument> {
  /** The sentence for a document without a token. */
  readonly missing: string;
}

/** Verifies a document with a token against a published key set, offline. */
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
