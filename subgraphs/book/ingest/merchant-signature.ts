import { compactVerify, importJWK } from 'jose';
import { decodedBase58 } from '../../../schema/base58.ts';
import { networks } from '../../../schema/network.ts';
import type { ObservedTransfer } from '../../../schema/observed-transfer.ts';
import { DeliveryFacts, type OfferReceipt, OfferTerms } from '../../../schema/requests/signed-artifact.ts';
import { isSignedBy } from '../../../schema/secp256k1.ts';
import { offerDigest, receiptDigest, type SignedDelivery, type SignedTerms } from '../../../schema/x402-artifacts.ts';

/*
 * Checks that the paid wallet signed what the payment was for. This is the first method of x402's offer-and-receipt extension
 * (§4.5.1). It is possible because the chain shows that wallet. Keys found by name (did:web) are not accepted, because they would
 * have to be fetched from the named party.
 */

export type MerchantVerdict =
  | { readonly kind: 'signed' }
  | {
      readonly kind: 'not_signed';
      readonly reason:
        | 'other_network'
        | 'other_payment'
        | 'other_resource'
        | 'signature_invalid'
        /** The form of the artifact cannot prove that the paid wallet signed it. */
        | 'signer_unknown';
    };
type Refused = Extract<MerchantVerdict, { kind: 'not_signed' }>['reason'];

/**
 * Checks every artifact that was sent. All of them must be valid.
 * @param resource resource of the row, which each artifact must name
 */
export async function merchantVerdict(
  { offer, receipt }: OfferReceipt,
  resource: string | null,
  transfer: ObservedTransfer,
): Promise<MerchantVerdict> {
  const faults = [
    offer && (await faultOf(offer, OfferTerms, offerDigest, transfer, terms => termsFault(terms, resource, transfer))),
    receipt &&
      (await faultOf(receipt, DeliveryFacts, receiptDigest, transfer, facts => factsFault(facts, resource, transfer))),
  ];
  const reason = faults.find(fault => fault != null);
  return reason == null ? { kind: 'signed' } : { kind: 'not_signed', reason };
}

type Artifact<T> =
  | { readonly format: 'eip712'; readonly payload: T; readonly signature: string }
  | { readonly format: 'jws'; readonly signature: string };
interface Shape<T> {
  safeParse(value: unknown): { readonly data?: T | undefined };
}

async function faultOf<T>(
  artifact: Artifact<T>,
  shape: Shape<T>,
  digestOf: (payload: T) => Uint8Array,
  transfer: ObservedTransfer,
  faultIn: (payload: T) => Refused | null,
): Promise<Refused | null> {
  // EVM wallets sign typed data (EIP-712). A JWS can be signed only by a Solana wallet, whose key is Ed25519.
  if ((artifact.format === 'eip712') !== (transfer.network === 'base')) return 'signer_unknown';
  if (artifact.format === 'jws') {
    const payload = await payloadSignedBy(transfer.pay_to, artifact.signature);
    const parsed = payload === null ? undefined : shape.safeParse(payload).data;
    return parsed === undefined ? 'signature_invalid' : faultIn(parsed);
  }
  const bytes = Buffer.from(artifact.signature.slice(2), 'hex');
  const recid = (bytes[64] ?? 0) % 27;
  const digest = digestOf(artifact.payload);
  const signed = recid <= 1 && isSignedBy(transfer.pay_to, digest, bytes.subarray(0, 64), recid);
  return signed ? faultIn(artifact.payload) : 'signature_invalid';
}

/**
 * Payload of a JWS that a Solana wallet signed (RFC 8037). The address of the wallet is its public key. Null if the wallet did not
 * sign.
 */
async function payloadSignedBy(wallet: string, jws: string): Promise<unknown> {
  const key = decodedBase58(wallet);
  if (key?.length !== 32) return null;
  try {
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key).toString('base64url') };
    const { payload } = await compactVerify(jws, await importJWK(jwk, 'EdDSA'), { algorithms: ['EdDSA'] });
    return JSON.parse(Buffer.from(payload).toString('utf8'));
  } catch {
    // The result is the same for a text that is no JWS, is not signed by this key, or is not JSON.
    return null;
  }
}

function termsFault(terms: SignedTerms, resource: string | null, transfer: ObservedTransfer): Refused | null {
  const { scheme, network, asset, payTo, amount, resourceUrl } = terms;
  if (!isOf(network, transfer)) return 'other_network';
  const same =
    scheme === 'exact' &&
    spelt(asset) === spelt(transfer.asset) &&
    spelt(payTo) === spelt(transfer.pay_to) &&
    amount === transfer.amount;
  if (!same) return 'other_payment';
  return isSameResource(resourceUrl, resource) ? null : 'other_resource';
}

function factsFault(facts: SignedDelivery, resource: string | null, transfer: ObservedTransfer): Refused | null {
  const { network, payer, transaction, resourceUrl } = facts;
  if (!isOf(network, transfer)) return 'other_network';
  // A seller may omit the transaction (§5.2 of the extension).
  const named = transaction === '' || spelt(transaction) === spelt(transfer.transaction);
  if (!named || spelt(payer) !== spelt(transfer.payer)) return 'other_payment';
  return isSameResource(resourceUrl, resource) ? null : 'other_resource';
}

function isOf(network: string, transfer: ObservedTransfer): boolean {
  return transfer.network !== 'nano' && networks[transfer.network].caip2 === network;
}

/** Spelling for comparisons. Hex ignores case, and base58 does not. */
const spelt = (text: string): string => (text.startsWith('0x') ? text.toLowerCase() : text);

function isSameResource(signed: string, resource: string | null): boolean {
  const url = URL.parse(signed);
  return url !== null && resource !== null && URL.parse(resource)?.href === url.href;
}
