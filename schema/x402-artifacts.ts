import { typedDataDigest, typedStruct } from './typed-hash.ts';

/*
 * What a shop signs by x402's offer-and-receipt extension, as typed data: the terms that it asked for, and that it was paid.
 * One place for whoever signs such artifacts here and whoever believes those of others.
 */

/** §4.2. */
export interface SignedTerms {
  readonly version: number;
  readonly resourceUrl: string;
  readonly scheme: string;
  /** CAIP-2. */
  readonly network: string;
  readonly asset: string;
  readonly payTo: string;
  /** Digits of atomic units. */
  readonly amount: string;
  /** Unix seconds; 0: without an end. */
  readonly validUntil: number;
}

/** §5.2. */
export interface SignedDelivery {
  readonly version: number;
  /** CAIP-2. */
  readonly network: string;
  readonly resourceUrl: string;
  readonly payer: string;
  /** Unix seconds. */
  readonly issuedAt: number;
  /** Empty where the shop keeps it to itself. */
  readonly transaction: string;
}

/** §3.2: chain 1 whatever network the artifact is of. */
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
