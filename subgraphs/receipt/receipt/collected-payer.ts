import { payloadVersionOf } from '../../../schema/receipt-payload.ts';
import type { Receipt } from './receipt.entity.ts';

/** The facts that it hangs on. */
export type PaidReceipt = Pick<
  Receipt,
  'payloadVersion' | 'paymentRef' | 'amount' | 'settledBy' | 'proofOutcome' | 'chainEnded' | 'payerWallet'
>;

/**
 * The wallet from which this service has collected what the receipt is of; null where nothing was, or not yet: a call
 * by key, a waiver, a payment whose arrival is still awaited, a lane that signs no payment of ours (foreign ingest, XNO,
 * stamps under the book chain), a development chain that nobody can ask any more.
 */
export function collectedPayer(receipt: PaidReceipt | null): string | null {
  if (receipt === null || payloadVersionOf({ payload_version: receipt.payloadVersion })?.family !== 'receipt')
    return null;
  const { paymentRef, amount, settledBy, proofOutcome, chainEnded, payerWallet } = receipt;
  const paid = paymentRef !== null && amount !== null && amount > 0n;
  const arrived = settledBy === 'observed_transfer' && proofOutcome === 'settled' && !chainEnded;
  return paid && arrived ? payerWallet : null;
}
