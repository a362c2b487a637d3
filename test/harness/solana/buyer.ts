import type { KeyPairSigner } from '@solana/kit';
import { x402Client } from '@x402/core/client';
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http';
import type { PaymentPayload, PaymentRequired } from '@x402/core/types';
import { wrapFetchWithPayment } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { ExactSvmSchemeV1 } from '@x402/svm/exact/v1/client';
import { type Fetch, type PaymentHeaders, withoutV2 } from '../buyer.ts';

/** The node from which a buyer on Solana gets blockhashes. */
interface Node {
  readonly rpc_url: string;
}

/** The official client of that x402 version with a wallet on Solana only. */
export function solanaPayingFetch({ rpc_url }: Node, signer: KeyPairSigner, version: 1 | 2 = 2): Fetch {
  if (version === 2) return wrapFetchWithPayment(fetch, clientOf(rpc_url, signer)) as Fetch;
  const client = new x402Client().registerV1('solana', new ExactSvmSchemeV1(signer, { rpcUrl: rpc_url }));
  return wrapFetchWithPayment(withoutV2, client) as Fetch;
}

/** One payment by the official client, as an object. */
export async function payloadFor({ rpc_url }: Node, signer: KeyPairSigner, url: string): Promise<PaymentPayload> {
  const asked = await fetch(url, { method: 'POST' });
  await asked.body?.cancel();
  const required = decodePaymentRequiredHeader(asked.headers.get('PAYMENT-REQUIRED') ?? '');
  return clientOf(rpc_url, signer).createPaymentPayload(required as PaymentRequired);
}

/** The headers that carry a payment. A test can send them repeatedly or to another endpoint. */
export function solanaPaymentHeaders(payload: PaymentPayload): PaymentHeaders {
  return { 'PAYMENT-SIGNATURE': encodePaymentSignatureHeader(payload) };
}

function clientOf(rpc_url: string, signer: KeyPairSigner): x402Client {
  return new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl: rpc_url }));
}
