import type { PaymentRequirements } from '@x402/core/types';
import type { EIP712SignedOffer, OfferPayload } from '@x402/extensions/offer-receipt';
import { LRUCache } from 'lru-cache';
import type { Price } from '../../rest-compat/port.ts';
import { canonicalJson, type JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import { offerDigest } from '../../schema/x402-artifacts.ts';
import type { Clock } from '../../subgraphs/clock.ts';
import type { Issuer } from '../../subgraphs/receipt/issuer/signing-keys.ts';
import { identifierDeclared } from './envelope.ts';

/** What a 402 of x402 v2 says beside its terms, and until when it may be said. */
interface Extended {
  readonly extensions: JsonObject;
  readonly until_ms: number;
}

export interface Extensions {
  now_ms(): number;
  /** Extensions depend only on the price, so they are cached per price, whatever a payment was refused for. */
  of(price: Price, accepts: readonly PaymentRequirements[]): Extended;
}

export const noExtensions: Extensions = {
  now_ms: () => 0,
  of: () => ({ extensions: {}, until_ms: Number.POSITIVE_INFINITY }),
};

/** For so long the same signed offers go out; each holds for at least as long again as a payment may take. */
const SAME_MS = 300_000;
const REMEMBERED_MAX = 1_000;

/** Signs offers, once per price for all that ask within a window, and declares what a payment may bring along. */
export function openExtensions(issuer: OfferSigner, { now_ms }: Pick<Clock, 'now_ms'>): Extensions {
  const signed = new LRUCache<string, Extended>({ max: REMEMBERED_MAX });
  return {
    now_ms,
    of({ amount_atomic, networks, pay_to, resource, stamp }, accepts) {
      const now = now_ms();
      const key = [amount_atomic, networks.join(), pay_to, resource].join('\n');
      const known = signed.get(key);
      if (known && now < known.until_ms) return known;
      const until_ms = now + SAME_MS;
      const valid_until_seconds = Math.ceil(until_ms / 1_000) + limits.payment_timeout_seconds_max;
      const offers = signedOffers(issuer, resource, accepts, valid_until_seconds);
      const made = { extensions: { ...(stamp ? {} : identifierDeclared), ...offers }, until_ms };
      signed.set(key, made);
      return made;
    },
  };
}

// Types alone: what the package signs is one line of canonical JSON, or one struct of typed data.

const OFFER_RECEIPT = 'offer-receipt';

/** What of the issuer signs for x402 clients. */
type OfferSigner = Pick<Issuer, 'signDigest'>;
export type ReceiptSigner = Pick<Issuer, 'did' | 'signature'>;

/**
 * The offers of one 402, signed: who was asked for a price can show by whom. In one go, as a 402 is made. As typed data,
 * the smaller of the extension's two forms: in a JWS the terms would be in base64 twice, and a 402 of two networks would not
 * fit into the header buffer of a stock proxy.
 */
function signedOffers(
  issuer: OfferSigner,
  resource: string,
  accepts: readonly PaymentRequirements[],
  valid_until_seconds: number,
): JsonObject {
  const offers = accepts.map(({ scheme, network, asset, payTo, amount }, acceptIndex): EIP712SignedOffer => {
    const terms = { scheme, network, asset, payTo, amount };
    const payload: OfferPayload = { version: 1, resourceUrl: resource, ...terms, validUntil: valid_until_seconds };
    return { format: 'eip712', acceptIndex, payload, signature: issuer.signDigest(offerDigest(payload)) };
  });
  return { [OFFER_RECEIPT]: { info: { offers }, schema: {} } as unknown as JsonObject };
}

/** What was paid for, by whom and when: the facts of one settled call. */
interface Delivered {
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
export function signedReceipt(
  issuer: ReceiptSigner,
  { resource, network, payer, transaction, at_seconds }: Delivered,
): JsonObject {
  const facts = { version: 1, network, resourceUrl: resource, payer, issuedAt: at_seconds, transaction };
  const input = signingInput({ alg: 'EdDSA', kid: issuer.did.receipt_kid }, facts);
  const signature = `${input}.${issuer.signature(input).value}`;
  const receipt = { format: 'jws', signature };
  return { [OFFER_RECEIPT]: { info: { receipt }, schema: {} } };
}

/** JWS Compact Serialization, as far as it is signed (RFC 7515 §5.1), of a payload by RFC 8785. */
function signingInput(header: JsonObject, payload: JsonObject): string {
  return [JSON.stringify(header), canonicalJson(payload)]
    .map(text => Buffer.from(text).toString('base64url'))
    .join('.');
}
