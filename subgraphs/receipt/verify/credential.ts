import { canonicalHash, isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { receiptCredential, VC_CTY, VC_TYP } from '../../../schema/credential.ts';
import { didWeb } from '../../../schema/links.ts';
import { isEarly, isLate } from './key-times.ts';
import { isSameJson } from './report.ts';
import { type Jwks, type ParsedJws, parseJws, verifyEs256 } from './signature.ts';
import {
  type Check,
  type Invalid,
  judgeBy,
  malformedDocument,
  type Rule,
  revokedFault,
  unless,
} from './signed-document.ts';

export type CredentialVerification =
  | {
      readonly kind: 'valid';
      readonly checks: readonly Check[];
      readonly payload: JsonObject;
      readonly payload_hash: string;
      /** did:web of the issuer. */
      readonly iss: string;
      /** Time at which the receipt was signed in this form, by the key that was current then (Unix seconds). */
      readonly iat: number;
    }
  | Invalid;

interface OpenedCredential {
  readonly jws: ParsedJws;
  readonly payload: JsonObject;
  /** Base URL of the receipt: the part of its URL before `/receipt/`. */
  readonly base_url: string;
  readonly jwks: Jwks;
}

/** Verifies a receipt as a W3C Verifiable Credential 2.0 (`vc+jwt`) offline, by a published key set. */
export function verifyCredential(jwt: string, jwks: Jwks): CredentialVerification {
  try {
    const opened = open(jwt, jwks);
    if (opened === null) return malformedDocument('This is not a credential of a receipt in the format vc+jwt.');
    const judged = judgeBy(rules, opened);
    if (judged.kind === 'invalid') return judged;
    const { payload, jws } = opened;
    const [iss, iat] = [String(jws.claims.issuer), Number(jws.header.iat)];
    return { kind: 'valid', checks: judged.checks, payload, payload_hash: canonicalHash(payload), iss, iat };
  } catch (fault) {
    // A rule throws only for a value without a canonical form (RFC 8785), or for an id that is not a URL.
    return malformedDocument(`The credential cannot be read: ${String(fault)}`);
  }
}

function open(jwt: string, jwks: Jwks): OpenedCredential | null {
  const jws = parseJws(jwt);
  const { credentialSubject: subject, id } = jws?.claims ?? {};
  const payload = isJsonObject(subject) ? subject.payload : null;
  const base_url = baseOf(id);
  return jws && isJsonObject(payload) && base_url !== null ? { jws, payload, base_url, jwks } : null;
}

function baseOf(id: Json | undefined): string | null {
  return /^(https?:\/\/.+)\/receipt\/[^/]+$/.exec(String(id))?.[1] ?? null;
}

/** Base URL of the receipt according to a credential, not verified; null if it states none. */
export function credentialBase(jwt: string): string | null {
  return baseOf(parseJws(jwt)?.claims.id);
}

/** Kid of the key in the key set: the issuer's DID document names each of its methods by its DID and that kid. */
const thumbprintIn = ({ kid }: JsonObject) => String(kid).split('#')[1] ?? '';

/** Rules in the order in which they are checked: each may rely on all before it. */
const rules: readonly Rule<OpenedCredential>[] = [
  {
    code: 'signature_invalid',
    says: 'The issuer signed this credential (ES256, vc+jwt).',
    fault: ({ jws: { header, input, signature, claims }, jwks }) => {
      const { alg, kid, typ, cty, iss } = header;
      const of_issuer = kid === `${String(iss)}#${thumbprintIn(header)}` && iss === claims.issuer;
      const named = typ === VC_TYP && cty === VC_CTY && of_issuer;
      const signed = alg === 'ES256' && verifyEs256(jwks, thumbprintIn(header), input, signature);
      return unless(
        named && signed,
        'No key of the key set verifies the credential, or the credential names another issuer than its header.',
      );
    },
  },
  {
    code: 'issuer_foreign',
    says: 'The receipt is published on the host that the issuer’s DID names.',
    fault: ({ jws: { claims }, base_url }) =>
      unless(
        claims.issuer === didWeb(base_url),
        'The receipt is published on another host than the one that the issuer’s DID names.',
      ),
  },
  {
    code: 'credential_differs',
    says: 'The claims of the credential are exactly those that follow from the payload of the receipt, including payload_hash.',
    fault: ({ jws: { claims, header }, payload, base_url }) => {
      const facts = { base_url, issuer: String(claims.issuer), payload_hash: canonicalHash(payload) };
      return unless(
        isSameJson(claims, receiptCredential(payload, facts)) && Number.isSafeInteger(header.iat),
        'The claims of the credential differ from those that follow from the payload of the receipt.',
      );
    },
  },
  {
    code: 'key_not_in_force',
    says: 'The credential was signed while its key was active, and the key is not revoked.',
    fault: ({ jws: { header }, jwks }) => {
      const kid = thumbprintIn(header);
      const claims = { iat: header.iat ?? null };
      const outside = isEarly(jwks, kid, claims) || isLate(jwks, kid, claims);
      return unless(!outside, 'The credential was signed while its key was not active.') ?? revokedFault(jwks, kid);
    },
  },
];
