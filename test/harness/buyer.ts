import { randomBytes } from 'node:crypto';
import { x402Client } from '@x402/core/client';
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http';
import type { PaymentRequired } from '@x402/core/types';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/client';
import { wrapFetchWithPayment } from '@x402/fetch';
import type { Hex, PrivateKeyAccount } from 'viem';
import { networks } from '../../schema/network.ts';

export type Fetch = typeof fetch;
/** Anything that signs typed data for an address: the account of a key, or of a contract wallet. */
export type Wallet = Pick<PrivateKeyAccount, 'address' | 'signTypedData'>;
export type PaymentHeaders = Readonly<Record<string, string>>;

/** The official client of that x402 version. It pays at most one 402 in each call and sends by `by`. */
export function payingFetch(account: Wallet, version: 1 | 2 = 2, by: Fetch = fetch): Fetch {
  if (version === 2) return wrapFetchWithPayment(by, officialClient(account)) as Fetch;
  const client = new x402Client().registerV1('base', new ExactEvmSchemeV1(account));
  return wrapFetchWithPayment((input, init) => withoutV2(input, init, by), client) as Fetch;
}

/** The official client prefers v2 if the header offers it, so the header is removed for a buyer of version 1. */
export async function withoutV2(input: Parameters<Fetch>[0], init?: RequestInit, by: Fetch = fetch): Promise<Response> {
  const answer = await by(input, init);
  const headers = new Headers(answer.headers);
  headers.delete('PAYMENT-REQUIRED');
  return new Response(answer.body, { status: answer.status, headers });
}

/**
 * Headers of one payment by the official client, which a test may send repeatedly or to another endpoint. `headers` are the credentials
 * that the endpoint checks before it answers 402.
 */
export async function paymentFor(
  account: Wallet,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<PaymentHeaders> {
  const asked = await fetch(url, { method: 'POST', headers });
  await asked.body?.cancel();
  const required = decodePaymentRequiredHeader(asked.headers.get('PAYMENT-REQUIRED') ?? '');
  const payload = await officialClient(account).createPaymentPayload(required as PaymentRequired);
  return { 'PAYMENT-SIGNATURE': encodePaymentSignatureHeader(payload) };
}

/** Raises the client's limit of one dollar a call, because jobs cost more. */
export function officialClient(account: Wallet): x402Client {
  return new x402Client()
    .setSpendControls({ maxAmountPerPayment: '$30' })
    .register('eip155:*', new ExactEvmScheme(account));
}

/** Members of a v1 offer in a 402 body from which a payment is made. */
export interface OfferV1 {
  readonly network: string;
  readonly asset: Hex;
  readonly payTo: Hex;
  readonly maxAmountRequired: string;
  readonly maxTimeoutSeconds: number;
  readonly extra: { readonly name: string; readonly version: string };
}

/** A v1 payment that is made without an x402 library, from a wallet, EIP-712 and base64. */
export async function handMadePayment(account: Wallet, offer: OfferV1): Promise<PaymentHeaders> {
  const now = Math.floor(Date.now() / 1000);
  const authorization = {
    from: account.address,
    to: offer.payTo,
    value: offer.maxAmountRequired,
    validAfter: String(now - 60),
    validBefore: String(now + offer.maxTimeoutSeconds),
    nonce: `0x${randomBytes(32).toString('hex')}` as Hex,
  };
  const signature = await account.signTypedData({
    domain: { ...offer.extra, chainId: networks.base.chain_id, verifyingContract: offer.asset },
    types: { TransferWithAuthorization: members },
    primaryType: 'TransferWithAuthorization',
    message: {
      ...authorization,
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
    },
  });
  const payment = { x402Version: 1, scheme: 'exact', network: offer.network, payload: { signature, authorization } };
  return { 'X-PAYMENT': Buffer.from(JSON.stringify(payment)).toString('base64') };
}

/** Members of the typed data TransferWithAuthorization (EIP-3009). */
const members = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const;

export interface RegistrationBody {
  readonly agentWallet: string;
  readonly wallet_signature: string;
  readonly signature_timestamp: number;
  readonly task_id?: string;
  readonly request_hash?: string;
}

export const nowSeconds = (): number => Math.floor(Date.now() / 1000);

/** Newest signing time of each wallet. A signature opens one session only, so no text may be signed twice. */
const signed = new Map<string, number>();

function freshSeconds(address: string): number {
  const at = Math.max(nowSeconds(), (signed.get(address) ?? 0) + 1);
  signed.set(address, at);
  return at;
}

/** The signed body of a registration, or of its recovery if a task id is given. */
export async function registrationOf(
  account: Pick<Wallet, 'address'> & { signMessage(text: { message: string }): Promise<Hex> },
  { task_id, at = freshSeconds(account.address) }: { readonly task_id?: string; readonly at?: number } = {},
): Promise<RegistrationBody> {
  const act = task_id === undefined ? 'svc.register.pay' : `svc.register.recover|${task_id}`;
  return {
    agentWallet: account.address,
    wallet_signature: await account.signMessage({ message: `${act}|${account.address}|${at}` }),
    signature_timestamp: at,
    ...(task_id === undefined ? {} : { task_id }),
  };
}
