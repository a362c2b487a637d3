import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeFunctionData, type Hex, parseAbi, parseSignature } from 'viem';
import { developmentBuyers } from '../../../gateway/development/chain/accounts.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { limits } from '../../../schema/limits.ts';
import { networks } from '../../../schema/network.ts';
import { signTransfer, type TransferMessage } from '../base/wallet.ts';
import { nowSeconds, type PaymentHeaders, type Wallet } from '../buyer.ts';
import type { Service } from './open-service.ts';

/** Changes to a payment that would otherwise be valid. */
export interface PaymentChange {
  readonly version?: 1 | 2;
  /** Members of the authorization that are changed before it is signed. */
  readonly signed?: Partial<TransferMessage>;
  /** Members of the authorization that are changed after it was signed. */
  readonly sent?: JsonObject;
  /** Members of the offer that a v2 payment accepts. */
  readonly accepted?: JsonObject;
  readonly payload?: JsonObject;
  readonly envelope?: JsonObject;
  signature?(signature: Hex): string;
}

export interface SignedPayment {
  readonly headers: PaymentHeaders;
  readonly message: TransferMessage;
  readonly signature: Hex;
}

/** A payment for a chat that is made without an x402 library, from a wallet, EIP-712 and base64. A test can change each part. */
export async function makePayment(
  service: { readonly pay_to: string },
  account: Wallet,
  change: PaymentChange = {},
): Promise<SignedPayment> {
  const { version = 2 } = change;
  const message: TransferMessage = {
    from: account.address,
    to: service.pay_to as Hex,
    value: limits.call_price_atomic,
    validAfter: 0n,
    validBefore: BigInt(nowSeconds() + limits.payment_timeout_seconds_max),
    nonce: `0x${randomBytes(32).toString('hex')}`,
    ...change.signed,
  };
  const signature = await signTransfer(account, message);
  const { from, to, nonce } = message;
  const [value, validAfter, validBefore] = [message.value, message.validAfter, message.validBefore].map(String);
  const payload = {
    signature: change.signature?.(signature) ?? signature,
    authorization: { from, to, value, validAfter, validBefore, nonce, ...change.sent },
    ...change.payload,
  };
  const accepted = {
    scheme: 'exact',
    network: networks.base.caip2,
    amount: limits.call_price_atomic.toString(),
    asset: networks.base.usdc,
    payTo: service.pay_to,
    maxTimeoutSeconds: limits.payment_timeout_seconds_max,
    extra: networks.base.usdc_domain,
    ...change.accepted,
  };
  const terms = version === 2 ? { accepted } : { scheme: 'exact', network: networks.base.name };
  const envelope = { x402Version: version, ...terms, payload, ...change.envelope };
  return { headers: paymentHeaders(version, encodeBase64(envelope)), message, signature };
}

export function paymentHeaders(version: 1 | 2, header: string): PaymentHeaders {
  return { [version === 2 ? 'PAYMENT-SIGNATURE' : 'X-PAYMENT']: header };
}

export function encodeBase64(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64');
}

const abi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
]);

/** Submits an authorization from another account, as EIP-3009 allows any account with gas to do. Resolves once it is mined. */
export async function submitElsewhere({ chain }: Service, { message, signature }: SignedPayment): Promise<Hex> {
  const { r, s, yParity } = parseSignature(signature);
  const { from, to, value, validAfter, validBefore, nonce } = message;
  const args = [from, to, value, validAfter, validBefore, nonce, 27 + yParity, r, s] as const;
  const data = encodeFunctionData({ abi, functionName: 'transferWithAuthorization', args });
  const [stranger] = developmentBuyers;
  const transaction = { from: stranger?.address ?? null, to: networks.base.usdc, data };
  const hash = await chain.call<Hex>('eth_sendTransaction', transaction);
  while (!(await chain.call('eth_getTransactionReceipt', hash))) await sleep(5);
  return hash;
}
