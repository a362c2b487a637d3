import { payloadVersionOf } from '../../../schema/receipt-payload.ts';
import type { Receipt } from './receipt.entity.ts';

/** Facts of a receipt that decide whether its payment was collected. */
export type PaidReceipt = Pick<
  Receipt,
  'payloadVersion' | 'paymentRef' | 'amount' | 'settledBy' | 'proofOutcome' | 'chainEnded' | 'payerWallet'
>;

/**
 * Wallet from which this service has collected the payment of the receipt. Null if nothing was collected, or nothing yet: a call with an
 * API key, a payment whose arrival is awaited, a lane that signs no payment to this service (foreign ingest, XNO, stamps under the book
 * chain), or a development chain that no longer exists.
 */
export function collectedPayer(receipt: PaidReceipt | null): string | null {
  if (receipt === null || payloadVersionOf({ payload_version: receipt.payloadVersion })?.family !== 'receipt')
    return null;
  const { paymentRef, amount, settledBy, proofOutcome, chainEnded, payerWallet } = receipt;
  const paid = paymentRef !== null && amount !== null && amount > 0n;
  const arrived = settledBy === 'observed_transfer' && proofOutcome === 'settled' && !chainEnded;
  return paid && arrived ? payerWallet : null;
}
