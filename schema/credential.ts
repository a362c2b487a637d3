import type { Json, JsonObject } from './canonical-json.ts';
import { verifyUrl } from './links.ts';

/* A receipt as a W3C Verifiable Credential 2.0, secured by JOSE. The issuer and the verifier share this shape. */

/** "Securing Verifiable Credentials using JOSE and COSE", §3.1: the media type, and `typ` and `cty` of the header. */
export const VC_JWT = 'application/vc+jwt';
export const VC_TYP = 'vc+jwt';
export const VC_CTY = 'vc';

const CONTEXT = 'https://www.w3.org/ns/credentials/v2';
const TYPE = 'SpendReceiptCredential';

/** @param payload the signed payload; `payload_hash` is the hash of its canonical form */
export function receiptCredential(
  payload: JsonObject,
  { base_url, issuer, payload_hash }: Readonly<Record<'base_url' | 'issuer' | 'payload_hash', string>>,
): JsonObject {
  const task_id = String(payload.task_id);
  return {
    // The second context gives JSON-LD readers the meaning of our own words: the API descriptions of this service.
    '@context': [CONTEXT, { '@vocab': `${base_url}/openapi.json#` }],
    id: verifyUrl(base_url, task_id),
    type: ['VerifiableCredential', TYPE],
    issuer,
    validFrom: payload.issued_at as Json,
    credentialSubject: { task_id, payload_hash, payload },
  };
}
