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

/** Extensions of a 402 of v2, and the time until which they may be used. */
interface TimedExtensions {
  readonly extensions: JsonObject;
  readonly until_ms: number;
}

export interface Extensions {
  now_ms(): number;
  /** Extensions for a price. They depend only on the price and not on the reason of a refusal, so they are cached per price. */
  of(price: Price, accepts: readonly PaymentRequirements[]): TimedExtensions;
}

export const noExtensions: Extensions = {
  now_ms: () => 0,
  of: () => ({ extensions: {}, until_ms: Number.POSITIVE_INFINITY }),
};

/** Time for which the same signed offers are used. Each offer is valid for this time and in addition for as long as a payment may take. */
const SAME_MS = 300_000;
const REMEMBERED_MAX = 1_000;

/** Opens the extensions of 402 responses. Offers are signed once per price and window. */
export function openExtensions(issuer: OfferSigner, { now_ms }: Pick<Clock, 'now_ms'>): Extensions {
  const signed = new LRUCache<string, TimedExtensions>({ max: REMEMBERED_MAX });
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

// Only types of the package are imported, because what it signs is simple: one line of canonical JSON, or one struct of typed data.

const OFFER_RECEIPT = 'offer-receipt';

/** Methods of the issuer that sign for x402 clients. */
type OfferSigner = Pick<Issuer, 'signDigest'>;
export type ReceiptSigner = Pick<Issuer, 'did' | 'signature'>;

/**
 * Signs the offers of one 402, so that a client can prove who quoted a price. It is synchronous, like the creation of a 402. It uses typed
 * data, the smaller of the extension's two forms: a JWS would contain the terms in base64 twice, and a 402 with two networks would exceed
 * the header buffer of a proxy with default settings.
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

/** Facts of one settled call: what was paid for, by which payer and when. */
interface SettledCallFacts {
  readonly resource: string;
  /** CAIP-2 id of the network. */
  readonly network: string;
  readonly payer: string;
  readonly transaction: string;
  readonly at_seconds: number;
}

/**
 * Signs the receipt in PAYMENT-RESPONSE. Ed25519 gives the same signature for the same facts (RFC 8032), so a repeated delivery has the
 * same bytes without storing them.
 */
export function signedReceipt(
  issuer: ReceiptSigner,
  { resource, network, payer, transaction, at_seconds }: SettledCallFacts,
): JsonObject {
  const facts = { version: 1, network, resourceUrl: resource, payer, issuedAt: at_seconds, transaction };
  const input = signingInput({ alg: 'EdDSA', kid: issuer.did.receipt_kid }, facts);
  const signature = `${input}.${issuer.signature(input).value}`;
  const receipt = { format: 'jws', signature };
  return { [OFFER_RECEIPT]: { info: { receipt }, schema: {} } };
}

/** Signing input of a JWS in Compact Serialization (RFC 7515 §5.1), with a payload by RFC 8785. */
function signingInput(header: JsonObject, payload: JsonObject): string {
  return [JSON.stringify(header), canonicalJson(payload)]
    .map(text => Buffer.from(text).toString('base64url'))
    .join('.');
}
