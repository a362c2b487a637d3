import type { KeyPairSigner } from '@solana/kit';
import {
  createOfferEIP712,
  createOfferJWS,
  createReceiptEIP712,
  createReceiptJWS,
  type JWSSigner,
} from '@x402/extensions/offer-receipt';
import type { PrivateKeyAccount } from 'viem/accounts';
import { networks } from '../../../schema/network.ts';
import type { ObservedTransfer } from '../../../schema/observed-transfer.ts';

/* A shop that is not this service. It signs its offers and receipts by the official package. */

/** Members of the offer and the receipt that differ from the actual payment. */
interface MerchantTerms {
  readonly resource?: string;
  readonly amount?: string;
  readonly payTo?: string;
  readonly payer?: string;
  readonly network?: string;
  readonly transaction?: string;
}

export const SHOP = 'https://shop.example/v1/x';

function partsOf(transfer: ObservedTransfer, said: MerchantTerms) {
  const { resource = SHOP, ...members } = said;
  const network = transfer.network === 'solana' ? networks.solana.caip2 : networks.base.caip2;
  const { asset, amount, payer, pay_to: payTo, transaction } = transfer;
  const known = { network, asset, amount, payTo, payer, transaction, ...members };
  return {
    resource,
    offer: { ...known, acceptIndex: 0, scheme: 'exact' },
    receipt: { ...known, resourceUrl: resource },
  };
}

/** Signs for Base: EIP-712 typed data, by a wallet. */
export async function signAsShop(wallet: PrivateKeyAccount, transfer: ObservedTransfer, said: MerchantTerms = {}) {
  const { resource, offer, receipt } = partsOf(transfer, said);
  const sign = (data: Parameters<PrivateKeyAccount['signTypedData']>[0]) => wallet.signTypedData(data);
  return {
    offer: await createOfferEIP712(resource, offer, sign as never),
    receipt: await createReceiptEIP712(receipt, sign as never),
  };
}

/** Signs for Solana: a JWS, by the key of an address there. */
export async function signAsSolanaShop(
  { privateKey: key }: KeyPairSigner['keyPair'],
  transfer: ObservedTransfer,
  said: MerchantTerms = {},
) {
  const { resource, offer, receipt } = partsOf(transfer, said);
  const signer: JWSSigner = {
    kid: 'did:web:shop.example#key-1',
    format: 'jws',
    algorithm: 'EdDSA',
    sign: async bytes =>
      Buffer.from(await crypto.subtle.sign('Ed25519', key, Uint8Array.from(bytes))).toString('base64url'),
  };
  return { offer: await createOfferJWS(resource, offer, signer), receipt: await createReceiptJWS(receipt, signer) };
}
