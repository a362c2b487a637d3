import type { JsonObject } from '../../../schema/canonical-json.ts';
import { BOOK_CHAIN_VERSION, signedTransfer } from '../../../schema/receipt-payload.ts';
import type { TransferUse } from '../../../schema/reconciliation-rule.ts';
import { verifyReceipt } from '../../../subgraphs/receipt/verify/receipt.ts';
import { paidOf } from '../witness/monitor/checked-receipt.ts';

/** A receipt whose signatures hold, by the payment that it names. */
export interface VerifiedUse extends TransferUse {
  readonly task_id: string;
}

export type CheckedUse =
  | { readonly kind: 'verified'; readonly use: VerifiedUse }
  /** Paid on another network, or not at all; or its payer is not known to be who it says. */
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'wrong'; readonly task_id: string; readonly code: string; readonly sentence: string };

/** What a receipt says of its payment on Base, once it is known to be signed. */
export function checkedUse(document: JsonObject, jwks: JsonObject, url: string): CheckedUse {
  const task_id = String(document.task_id);
  const verified = verifyReceipt(document, jwks, { base_url: url });
  if (verified.kind === 'invalid') return { kind: 'wrong', task_id, code: verified.code, sentence: verified.sentence };
  const { claims } = verified;
  const payment = signedTransfer(claims);
  if (payment?.network !== 'base') return { kind: 'elsewhere' };
  // In a book chain a receipt with a row is of a payment to somebody else; one without is of the stamp that paid for recording it.
  const ingested = claims.payload_version === BOOK_CHAIN_VERSION && typeof claims.book_seq === 'number';
  if (ingested && claims.payer_proven === false) return { kind: 'elsewhere' };
  return { kind: 'verified', use: { kind: ingested ? 'ingest' : 'receipt', ...paidOf(task_id, payment, document) } };
}
