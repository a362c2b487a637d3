import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { type Addresses, addressesOf } from './addresses.ts';
import { type DocumentVerification, type JudgedKind, judgeDocument } from './report.ts';
import { type Jwks, parseJws } from './signature.ts';
import { type SignedDocument, unopened } from './signed.ts';

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
  if (jws === null) return unopened(token, kind.missing);
  const { iss, iat: _, jti, ...payload } = jws.claims;
  const addresses = addressesOf(iss, base_url, jwks);
  return judgeDocument({ document, payload, jti, addresses, jws, jwks }, jws.claims, kind);
}

/** The `issuer_signature.jws` of a document, not yet parsed. */
export function tokenOf({ issuer_signature }: JsonObject): Json | undefined {
  return isJsonObject(issuer_signature) ? issuer_signature.jws : undefined;
}
