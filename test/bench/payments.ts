import type { Hex } from '../../gateway/rails/base/abi.ts';
import { networks } from '../../schema/network.ts';
import { newPayer, type SignedAuthorization, signAuthorization } from './authorizations.ts';

/** PAYMENT-SIGNATURE headers as official clients send them. */
export function signedPayments(count: number, pay_to: Hex): string[] {
  const payer = newPayer();
  return Array.from({ length: count }, () => paymentHeader(signAuthorization(payer, pay_to)));
}

/** The payment as it is sent in the header. */
export function paymentHeader({ authorization, signature }: SignedAuthorization): string {
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
