import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { appendPaymentIdentifierToExtensions, generatePaymentId } from '@x402/extensions/payment-identifier';
import { wrapFetchWithPayment } from '@x402/fetch';
import type { Fetch, Wallet } from '../buyer.ts';
import { makePayment, type PaymentChange, type SignedPayment } from './make-payment.ts';

export const newIdentifier = (): string => generatePaymentId('order-');

/** A payment for a chat with a new authorization and with that payment identifier. */
export function identifiedPayment(
  service: { readonly pay_to: string },
  account: Wallet,
  id: string,
  change: PaymentChange = {},
): Promise<SignedPayment> {
  const extensions = { 'payment-identifier': { info: { required: false, id } } };
  return makePayment(service, account, { ...change, envelope: { extensions } });
}

/** The official client with the official extension. It uses that payment identifier for everything that it buys. */
export function identifierFetch(account: Wallet, id: string): Fetch {
  const client = new x402Client().register('eip155:*', new ExactEvmScheme(account));
  client.onBeforePaymentCreation(async ({ paymentRequired }) => {
    appendPaymentIdentifierToExtensions(paymentRequired.extensions ?? {}, id);
  });
  return wrapFetchWithPayment(fetch, client) as Fetch;
}
