import type { PaymentRequirements } from '@x402/core/types';
// Types alone: the package brings a whole wallet library along, and what it signs is one line of canonical JSON.
import type { JWSSignedOffer, OfferPayload } from '@x402/extensions/offer-receipt';
import { canonicalJson, type JsonObject } from '../../../schema/canonical-json.ts';
import type { Issuer } from '../../../subgraphs/receipt/index.ts';

const OFFER_RECEIPT = 'offer-receipt';

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
  const { es256 } = issuer.did.kids;
  const offers = accepts.map(({ scheme, network, asset, payTo, amount }, acceptIndex): JWSSignedOffer => {
    const terms = { scheme, network, asset, payTo, amount };
    const offer: OfferPayload = { version: 1, resourceUrl: resource, ...terms, validUntil: valid_until_seconds };
    const input = signingInput({ alg: 'ES256', kid: es256 }, offer as unknown as JsonObject);
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
  const input = signingInput({ alg: 'EdDSA', kid: issuer.did.kids.ed25519 }, facts);
  const signature = `${input}.${(await issuer.signature(input)).value}`;
  const receipt = { format: 'jws', signature };
  return { [OFFER_RECEIPT]: { info: { receipt }, schema: schemaOf('receipt', 'object') } };
}

/** Every member of an offer or receipt is under its signature; what the schema has to say beside that is short. */
function schemaOf(member: string, type: string): JsonObject {
  const $schema = 'https://json-schema.org/draft/2020-12/schema';
  return { $schema, type: 'object', properties: { [member]: { type } }, required: [member] };
}

/** JWS Compact Serialization, as far as it is signed (RFC 7515 §5.1), of a payload by RFC 8785. */
function signingInput(header: JsonObject, payload: JsonObject): string {
  return [JSON.stringify(header), canonicalJson(payload)]
    .map(text => Buffer.from(text).toString('base64url'))
    .join('.');
}
