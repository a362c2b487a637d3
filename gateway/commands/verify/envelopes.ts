import type { JsonObject } from '../../../schema/canonical-json.ts';
import { jwksUri } from '../../../schema/links.ts';
import { cwtFacts, parseSign1 } from '../../../subgraphs/receipt/verify/cose.ts';
import {
  type CredentialVerification,
  credentialBase,
  verifyCredential,
} from '../../../subgraphs/receipt/verify/credential.ts';
import type { VerifiedDocument } from '../../../subgraphs/receipt/verify/module.ts';
import { type StatementVerification, verifyStatement } from '../../../subgraphs/receipt/verify/statement.ts';

export type EnvelopeKind = 'statement' | 'credential';

/** A receipt in another form than JSON, as far as it can be told without belief. */
interface Envelope {
  readonly kind: EnvelopeKind;
  /** Of whom it says that it is; null where it names nobody. */
  readonly key_set_uri: string | null;
  /** `payload` is what the receipt signs; null where it is not valid. */
  verify(jwks: JsonObject): Omit<VerifiedDocument, 'kind'> & { readonly payload: JsonObject | null };
}

/** Tag 18, of a COSE_Sign1. */
const TAGGED_SIGN1 = 0xd2;
const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Null where the bytes are neither a COSE_Sign1 nor a compact JWS. */
export function envelopeIn(bytes: Buffer): Envelope | null {
  if (bytes[0] === TAGGED_SIGN1) {
    const statement = parseSign1(bytes);
    const issuer = (statement && cwtFacts(statement)?.iss) ?? null;
    return { kind: 'statement', key_set_uri: uriOf(issuer), verify: jwks => told(verifyStatement(bytes, jwks)) };
  }
  const text = bytes.toString().trim();
  if (!COMPACT_JWS.test(text)) return null;
  const key_set_uri = uriOf(credentialBase(text));
  return { kind: 'credential', key_set_uri, verify: jwks => told(verifyCredential(text, jwks)) };
}

const uriOf = (issuer: string | null) => issuer && jwksUri(issuer);

function told(verified: StatementVerification | CredentialVerification): ReturnType<Envelope['verify']> {
  const { checks } = verified;
  if (verified.kind === 'invalid') {
    const { code, sentence } = verified;
    return { valid: false, checks, fault: { code, sentence }, claims: null, report: null, payload: null };
  }
  const { kind: _kind, checks: _checks, payload, iat, ...facts } = verified;
  const signed_at = new Date(iat * 1000).toISOString();
  const claims = { ...payload, ...facts, signed_at };
  const report = { unsigned: { lane: [], unknown: [] }, broken: [], unchecked: [] };
  return { valid: true, checks, fault: null, claims, report, payload };
}
