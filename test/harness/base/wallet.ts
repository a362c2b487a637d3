import { x402Client } from '@x402/core/client';
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http';
import type { PaymentPayload, PaymentRequired } from '@x402/core/types';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/client';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { openChallenges } from '../../../gateway/x402/offer.ts';
import type { Price } from '../../../rest-compat/port.ts';
import { networks } from '../../../schema/network.ts';
import type { Wallet } from '../buyer.ts';

export const PAY_TO = '0x2222222222222222222222222222222222222222';
export const price: Price = {
  amount_atomic: 2000n,
  networks: ['base'],
  resource: 'http://127.0.0.1:4000/v1/chat/completions',
  description: 'A chat completion',
};

export function newAccount(): PrivateKeyAccount {
  return privateKeyToAccount(generatePrivateKey());
}

/** The payment that the official client of that x402 version makes for our 402. */
export async function officialPayment(version: 1 | 2, account: PrivateKeyAccount): Promise<PaymentPayload> {
  const asked = openChallenges({ base: PAY_TO })(price, null);
  const client = new x402Client()
    .register('eip155:*', new ExactEvmScheme(account))
    .registerV1('base', new ExactEvmSchemeV1(account));
  const required = version === 2 ? decodePaymentRequiredHeader(asked.headers['PAYMENT-REQUIRED'] ?? '') : asked.body;
  return client.createPaymentPayload(required as unknown as PaymentRequired);
}

export async function officialHeader(version: 1 | 2, account: PrivateKeyAccount): Promise<string> {
  return encodePaymentSignatureHeader(await officialPayment(version, account));
}

export interface TransferMessage {
  readonly from: `0x${string}`;
  readonly to: `0x${string}`;
  readonly value: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: `0x${string}`;
}

/** Signs an EIP-3009 authorization by viem's general typed-data signer, as a reference for our own digest. */
export function signTransfer(account: Pick<Wallet, 'signTypedData'>, message: TransferMessage): Promise<`0x${string}`> {
  return account.signTypedData({ ...typedData, message });
}

export const typedData = {
  domain: { ...networks.base.usdc_domain, chainId: networks.base.chain_id, verifyingContract: networks.base.usdc },
  types: {
    TransferWithAuthorization: [
      { name: 'from', type: 'address' },
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'validAfter', type: 'uint256' },
      { name: 'validBefore', type: 'uint256' },
      { name: 'nonce', type: 'bytes32' },
    ],
  },
  primaryType: 'TransferWithAuthorization',
} as const;

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** The second valid signature of the same message (EIP-2). Only the bound on s rejects it. */
export function highS(signature: string): string {
  const s = (ORDER - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0');
  return `${signature.slice(0, 66)}${s}${signature.endsWith('1b') ? '1c' : '1b'}`;
}

const cancelling = parseAbi(['function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)']);

/** Call data that cancels an authorization (EIP-3009). Its payer signs it, and any account may submit it. */
export async function cancellation(payer: Wallet, nonce: Hex): Promise<Hex> {
  const signature = await payer.signTypedData({
    domain: typedData.domain,
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: payer.address, nonce },
  });
  const args = [payer.address, nonce, signature] as const;
  return encodeFunctionData({ abi: cancelling, functionName: 'cancelAuthorization', args });
}
