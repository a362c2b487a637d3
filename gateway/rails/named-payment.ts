import { checksummedAddress } from '../../schema/eip55.ts';
import type { NetworkName } from '../../schema/network.ts';
import type { PresentedPayment } from '../../subgraphs/context.ts';
import { type ExactPayload, readEnvelope } from '../x402/envelope.ts';
import { baseClaimKey } from './base/authorization.ts';
import { solanaClaimKey } from './solana/authorization.ts';
import { readWireTransaction, transferIn } from './solana/transfer.ts';

/** The payer and the claim key that a payment claims, unverified. */
export interface PaymentName {
  readonly network: NetworkName;
  readonly payer: string;
  readonly claim_key: string;
}

const readers: Record<NetworkName, (payload: ExactPayload) => Omit<PaymentName, 'network'> | null> = {
  base(payload) {
    if (!('authorization' in payload)) return null;
    const { from, nonce } = payload.authorization;
    const payer = checksummedAddress(from);
    return { payer, claim_key: baseClaimKey({ payer, nonce: nonce as `0x${string}` }) };
  },
  solana(payload) {
    const read = 'transaction' in payload ? readWireTransaction(Buffer.from(payload.transaction, 'base64')) : null;
    const transfer = read && transferIn(read);
    return transfer && { payer: transfer.authority, claim_key: solanaClaimKey(read) };
  },
};

/** Reads them from a payment; null if the network is unknown or the payload has another shape. */
export function paymentNameIn(payment: PresentedPayment): PaymentName | null {
  const read = readEnvelope(payment);
  const network = read?.network;
  const named = network && read.payload && readers[network](read.payload);
  return network && named ? { network, ...named } : null;
}
