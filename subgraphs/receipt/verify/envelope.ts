import type { JsonObject } from '../../../schema/canonical-json.ts';
import { VC_TYP } from '../../../schema/credential.ts';
import { jwksUri } from '../../../schema/links.ts';
import { payersText, readPayerProof } from '../../../schema/payer-proof.ts';
import { signedAddresses } from './addresses.ts';
import {
  isCheckpoint,
  isLogProof,
  type NoteKeys,
  verifyCheckpoint,
  verifyProofAlone,
} from './beside-receipts/checkpoint.ts';
import { keySetOfToken, verifyToken } from './beside-receipts/token.ts';
import { NEEDS_SECRET } from './beside-receipts/webhook-message.ts';
import { resourceKeySet } from './beside-receipts/x402-artifact.ts';
import { cwtFacts, parseSign1 } from './cose.ts';
import { type CredentialVerification, credentialBase, verifyCredential } from './credential.ts';
import { type DocumentVerification, verificationJson } from './report.ts';
import type { VerifiedDocument } from './result.ts';
import { parseJws } from './signature.ts';
import { type StatementVerification, verifyStatement } from './statement.ts';
import { verifyWalletText } from './wallet/text.ts';

/* Verifies what is signed in other forms than JSON: receipts as statements and credentials, notes of the log, tokens, and header values. */

export type EnvelopeKind =
  | 'statement'
  | 'credential'
  | 'checkpoint'
  | 'log_proof'
  /** A JWS that was cut out of a document. */
  | 'token'
  /** A value of X-SVC-Payer. */
  | 'wallet_text'
  /** A value of X-SVC-Signature, webhook-signature or X-SVC-Proof, made with a secret that both sides have. */
  | 'hmac';

export interface EnvelopeOptions extends NoteKeys {
  readonly base_url?: string;
}

/** An envelope, as far as it can be read before verification. */
interface Envelope {
  readonly kind: EnvelopeKind;
  /** URL of the key set of the issuer that the envelope names. Null if it names none. */
  readonly key_set_uri: string | null;
  /** False if no key of the issuer signs such an envelope. */
  readonly needs_keys: boolean;
  verify(jwks: JsonObject, options?: EnvelopeOptions): VerifiedEnvelope;
}

interface VerifiedEnvelope extends Omit<VerifiedDocument, 'kind'> {
  /** Signed payload of a receipt. Null if the envelope is not valid, or not a receipt. */
  readonly payload: JsonObject | null;
}

/** First byte of a tagged COSE_Sign1: tag 18 (RFC 9052 §2). */
const TAGGED_SIGN1 = 0xd2;
const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const HMAC = /^(sha256=[0-9a-f]{64}|(v1,[A-Za-z0-9+/]{43}=)( v1,[A-Za-z0-9+/]{43}=)*)$/;

/** Opens an envelope without verifying it. Null if the bytes are not an envelope of one of these kinds. */
export function envelopeIn(bytes: Buffer): Envelope | null {
  if (bytes[0] === TAGGED_SIGN1) {
    const statement = parseSign1(bytes);
    const issuer = (statement && cwtFacts(statement)?.iss) ?? null;
    return ofReceipt('statement', uriOf(issuer), jwks => verifyStatement(bytes, jwks));
  }
  const text = bytes.toString();
  return tokenIn(text.trim()) ?? noteIn(text) ?? headerIn(text.trim());
}

function tokenIn(text: string): Envelope | null {
  if (!COMPACT_JWS.test(text)) return null;
  const { header, claims } = parseJws(text) ?? {};
  if (header?.typ === VC_TYP || claims?.credentialSubject !== undefined)
    return ofReceipt('credential', uriOf(credentialBase(text)), jwks => verifyCredential(text, jwks));
  const named = keySetOfToken(text) ?? resourceKeySet({ format: 'jws', signature: text });
  return ofDocument('token', named, jwks => verifyToken(text, jwks));
}

function noteIn(text: string): Envelope | null {
  // The last line feed is also signed, and is often lost when a text is pasted.
  const whole = text.endsWith('\n') ? text : `${text}\n`;
  if (isLogProof(whole)) return ofDocument('log_proof', null, (jwks, keys) => verifyProofAlone(whole, jwks, keys));
  return isCheckpoint(whole)
    ? ofDocument('checkpoint', null, (jwks, keys) => verifyCheckpoint(whole, jwks, keys))
    : null;
}

function headerIn(text: string): Envelope | null {
  if (HMAC.test(text)) {
    const fault = { kind: 'invalid', code: 'needs_secret', sentence: NEEDS_SECRET, checks: [] } as const;
    return { ...ofDocument('hmac', null, () => fault), needs_keys: false };
  }
  if (readPayerProof(text) === null) return null;
  return { ...ofDocument('wallet_text', null, (jwks, options) => payerProof(text, jwks, options)), needs_keys: false };
}

/** The header does not name the service that it was signed for, so each known base URL is tried. */
function payerProof(header: string, jwks: JsonObject, { base_url }: EnvelopeOptions): DocumentVerification {
  const proof = readPayerProof(header);
  const bases = [...(base_url === undefined ? [] : [base_url]), ...(signedAddresses(jwks) ?? [])];
  const verified = bases.map(base => {
    const text = proof ? payersText(base, proof) : '';
    return verifyWalletText({ text, signature: proof?.signature ?? '', signer: proof?.wallet ?? '' });
  });
  const sentence =
    'The header does not name the service that it was signed for: give the base URL of the service, or its key set.';
  return (
    verified.find(({ kind }) => kind === 'valid') ??
    verified[0] ?? { kind: 'invalid', code: 'needs_service', sentence, checks: [] }
  );
}

const uriOf = (issuer: string | null) => issuer && jwksUri(issuer);

function ofDocument(
  kind: EnvelopeKind,
  key_set_uri: string | null,
  verify: (jwks: JsonObject, options: EnvelopeOptions) => DocumentVerification,
): Envelope {
  return {
    kind,
    key_set_uri,
    needs_keys: true,
    verify(jwks, options = {}) {
      return { ...verificationJson(verify(jwks, options)), payload: null };
    },
  };
}

function ofReceipt(
  kind: EnvelopeKind,
  key_set_uri: string | null,
  verify: (jwks: JsonObject) => StatementVerification | CredentialVerification,
): Envelope {
  return { kind, key_set_uri, needs_keys: true, verify: jwks => envelopeResult(verify(jwks)) };
}

function envelopeResult(verified: StatementVerification | CredentialVerification): VerifiedEnvelope {
  if (verified.kind === 'invalid') return { ...verificationJson(verified), payload: null };
  const { kind: _kind, checks, payload, iat, ...facts } = verified;
  const signed_at = new Date(iat * 1000).toISOString();
  const claims = { ...payload, ...facts, signed_at };
  const report = { unsigned: { lane: [], unknown: [] }, broken: [], unchecked: [] };
  return { ...verificationJson({ kind: 'valid', claims, checks, report }), payload };
}
