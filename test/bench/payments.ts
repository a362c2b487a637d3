import { randomBytes } from 'node:crypto';
import secp256k1 from 'secp256k1';
import { privateKeyToAddress } from 'viem/accounts';
import type { Hex } from '../../gateway/payment/base/abi.ts';
import { type Authorization, authorizationDigest } from '../../gateway/payment/base/authorization.ts';
import { atomicAmount } from '../../schema/amount.ts';
import { networks } from '../../schema/network.ts';

/** PAYMENT-SIGNATURE headers, signed natively and beforehand: the buyer's work is not what is measured. */
export function signedPayments(count: number, pay_to: Hex): string[] {
  const key = randomBytes(32);
  const payer = privateKeyToAddress(`0x${key.toString('hex')}`);
  const now_seconds = Math.floor(Date.now() / 1000);
  return Array.from({ length: count }, () => {
    const authorization: Authorization = {
      network: 'base',
      payer,
      pay_to,
      amount_atomic: atomicAmount(2000n),
      valid_after_seconds: now_seconds - 600,
      valid_before_seconds: now_seconds + 3600,
      nonce: `0x${randomBytes(32).toString('hex')}`,
    };
    const { signature, recid } = secp256k1.ecdsaSign(authorizationDigest(authorization), key);
    return header(authorization, `0x${Buffer.from(signature).toString('hex')}${(27 + recid).toString(16)}`);
  });
}

function header(authorization: Authorization, signature: Hex): string {
  const payment = {
    x402Version: 2,
    accepted: {
      scheme: 'exact',
      network: networks.base.caip2,
      amount: authorization.amount_atomic.toString(),
      asset: networks.base.usdc,
      payTo: authorization.pay_to,
      maxTimeoutSeconds: 300,
      extra: { ...networks.base.usdc_domain },
    },
    payload: {
      signature,
      authorization: {
        from: authorization.payer,
        to: authorization.pay_to,
        value: authorization.amount_atomic.toString(),
        validAfter: String(authorization.valid_after_seconds),
        validBefore: String(authorization.valid_before_seconds),
        nonce: authorization.nonce,
      },
    },
  };
  return Buffer.from(JSON.stringify(payment)).toString('base64');
}
