import type { JsonObject } from '../../../schema/canonical-json.ts';
import { receiptCredential } from '../../../schema/credential.ts';
import type { Issuer } from '../issuer/signing-keys.ts';
import type { Receipt } from '../receipt/receipt.entity.ts';
import { KeptSignatures } from './kept-signatures.ts';
import { signCredential } from './sign.ts';

/** Some 6 KB each. */
const credentials = new KeptSignatures<{ readonly jwt: string }>(1_024);

/** A receipt as a W3C Verifiable Credential 2.0, secured as `vc+jwt`. */
export function verifiableCredential(issuer: Issuer, { payload, payloadHash }: Receipt): string {
  return credentials.once(issuer, payloadHash, iat => {
    const { base_url, did_web } = issuer;
    const facts = { base_url, issuer: did_web, payload_hash: payloadHash };
    return { jwt: signCredential(issuer, receiptCredential(JSON.parse(payload) as JsonObject, facts), iat) };
  }).jwt;
}
