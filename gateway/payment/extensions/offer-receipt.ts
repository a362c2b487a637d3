import type { PaymentRequirements } from '@x402/core/types';
import { createJWS, type JWSSignedOffer, OFFER_RECEIPT, type OfferPayload } from '@x402/extensions/offer-receipt';
import { canonicalJson, type JsonObject } from '../../../schema/canonical-json.ts';
import type { Issuer } from '../../../subgraphs/receipt/index.ts';

/** What of the issuer signs for x402 clients. */
export type OfferSigner = Pick<Issuer, 'did' | 'signCanonical'>;
export type ReceiptSigner = Pick<Issuer, 'did' | 'signature'>;

/** The offers of one 402, signed: who was asked for a price can show by whom. In one go, as a 402 is made. */
export function signedOffers(
  issuer: OfferSigner,
  resource: string,
  accepts: readonly PaymentRequirements[],
  valid_until_seconds: number,
): JsonObject {
  const header = encoded(JSON.stringify({ alg: 'ES256', kid: issuer.did.kids.es256 }));
  const offers = accepts.map(({ scheme, network, asset, payTo, amount }, acceptIndex): JWSSignedOffer => {
    const terms = { scheme, network, asset, payTo, amount };
    const offer: OfferPayload = { version: 1, resourceUrl: resource, ...terms, validUntil: valid_until_seconds };
    const input = `${header}.${encoded(canonicalJson(offer as unknown as JsonObject))}`;
    return { format: 'jws', acceptIndex, signature: `${input}.${issuer.signCanonical(input)}` };
  });
  return { [OFFER_RECEIPT]: { info: { offers }, schema: schemaOf('offers', 'array') } as unknown as JsonObject };
}

/** What was paid for, by whom and when: the facts of one settled call. */
export interface Delivered {
  readonly resource: string;
  /** CAIP-2. */
  readonly network: string;
  readonly payer: string;
  readonly transaction: string;
  readonly at_seconds: number;
}

/**
 * The receipt in PAYMENT-RESPONSE. By Ed25519, whose signature over the same facts is the same: an answer that is delivered
 * again brings the same bytes, and none of them are kept.
 */
export async function signedReceipt(
  issuer: ReceiptSigner,
  { resource, network, payer, transaction, at_seconds }: Delivered,
): Promise<JsonObject> {
  const facts = { version: 1, network, resourceUrl: resource, payer, issuedAt: at_seconds, transaction };
  const signature = await createJWS(facts, {
    kid: issuer.did.kids.ed25519,
    format: 'jws',
    algorithm: 'EdDSA',
    sign: async input => (await issuer.signature(Buffer.from(input).toString('latin1'))).value,
  });
  const receipt = { format: 'jws', signature };
  return { [OFFER_RECEIPT]: { info: { receipt }, schema: schemaOf('receipt', 'object') } };
}

/** Every member of an offer or receipt is under its signature; what the schema has to say beside that is short. */
function schemaOf(member: string, type: string): JsonObject {
  const $schema = 'https://json-schema.org/draft/2020-12/schema';
  return { $schema, type: 'object', properties: { [member]: { type } }, required: [member] };
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64url');
}
