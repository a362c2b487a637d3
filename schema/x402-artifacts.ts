import type { DocumentOf } from './noun.ts';
import type { DeliveryFacts, OfferTerms } from './requests/signed-artifact.ts';
import { typedDataDigest, typedStruct } from './typed-hash.ts';

/*
 * Typed data of x402's offer-and-receipt extension: the terms that a shop offered, and the receipt of its payment. Used
 * both to sign such artifacts and to verify those of others.
 */

/** §4.2. Its version is signed as it was received: x402's packages type it as a number. */
export type SignedTerms = Signed<typeof OfferTerms>;

/** §5.2. */
export type SignedDelivery = Signed<typeof DeliveryFacts>;

type Signed<N extends typeof OfferTerms | typeof DeliveryFacts> = Omit<DocumentOf<N>, 'version'> & {
  readonly version: number;
};

/** §3.2: chain id 1, whatever the network of the artifact. */
const domainOf = (name: string) => ({ name, version: '1', chainId: 1 }) as const;
const OFFER = typedStruct('Offer', [
  { name: 'version', type: 'uint256' },
  { name: 'resourceUrl', type: 'string' },
  { name: 'scheme', type: 'string' },
  { name: 'network', type: 'string' },
  { name: 'asset', type: 'string' },
  { name: 'payTo', type: 'string' },
  { name: 'amount', type: 'string' },
  { name: 'validUntil', type: 'uint256' },
]);
const RECEIPT = typedStruct('Receipt', [
  { name: 'version', type: 'uint256' },
  { name: 'network', type: 'string' },
  { name: 'resourceUrl', type: 'string' },
  { name: 'payer', type: 'string' },
  { name: 'issuedAt', type: 'uint256' },
  { name: 'transaction', type: 'string' },
]);

export function offerDigest({ version, validUntil, ...terms }: SignedTerms): Uint8Array {
  const message = { ...terms, version: BigInt(version), validUntil: BigInt(validUntil) };
  return typedDataDigest(domainOf('x402 offer'), OFFER, message);
}

export function receiptDigest({ version, issuedAt, ...facts }: SignedDelivery): Uint8Array {
  const message = { ...facts, version: BigInt(version), issuedAt: BigInt(issuedAt) };
  return typedDataDigest(domainOf('x402 receipt'), RECEIPT, message);
}
