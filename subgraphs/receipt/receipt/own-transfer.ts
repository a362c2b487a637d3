import type { ObservedTransfer } from '../../../schema/observed-transfer.ts';
import type { Database } from '../../database.ts';

/** A transfer whose index within its transaction is known. */
type PlacedTransfer = Pick<ObservedTransfer, 'network' | 'transaction' | 'payer' | 'pay_to'> & {
  readonly index: number;
};

/** Finds payments of the log's receipts by their transfers, so that none of a payer's receipts has to be read. */
export interface PaymentIndex {
  /** `followed`: number of the log's leaves whose payments it knows; payments that were seen later it knows for all of them. */
  look(transfer: PlacedTransfer): Promise<{ readonly found: boolean; readonly followed: number }>;
}

/**
 * Whether a transfer backs a receipt of this service, or may yet: it may have gone to a former treasury, for a call that is on no book or
 * on another's. The payer's open payments are checked first, then the index, then the receipts that it has not followed: a payment that
 * moves on meanwhile moves in this order, so it is not missed.
 */
export async function isOwnTransfer(
  {
    database,
    payment_index,
  }: { readonly database: Pick<Database, 'query'>; readonly payment_index: PaymentIndex | null },
  transfer: ObservedTransfer,
): Promise<boolean> {
  const { network, transaction, index, payer, pay_to } = transfer;
  // A block is one transfer on Nano, and no call is paid for there.
  if (index === null) return false;
  if (await mayStillPay(database, transfer)) return true;
  if (payment_index === null) return isOfReceipt(database, transfer, 0);
  const { found, followed } = await payment_index.look({ network, transaction, index, payer, pay_to });
  return found || isOfReceipt(database, transfer, followed);
}

/** Whether the payer has payments to that payee that are not final on the chain yet. */
async function mayStillPay(database: Pick<Database, 'query'>, { payer, pay_to }: ObservedTransfer): Promise<boolean> {
  const found = await database.query({
    name: 'open payments to a payee',
    text: `select 1 from payment_claim where payer = $1 and ${TO_PAYEE} and state in ('claimed', 'settling')
      union all select 1 from payment_claim where state = 'released' and not final and payer = $1 and ${TO_PAYEE}
      union all select 1 from payment_claim where arrival = 'pending' and payer = $1 and ${TO_PAYEE}
      limit 1`,
    values: [payer, pay_to],
  });
  return found.length > 0;
}

/** Each use is beside the condition of an index of its own. */
const TO_PAYEE = `lower("authorization"->>'pay_to') = lower($2)`;

/** A member that the payload of the receipt `r` signs of its transfer: a book chain has them in `observed_transfer`. */
const signedMember = (in_payment: string, in_book_chain: string): string =>
  `coalesce(r.payload::jsonb#>>'{payment,${in_payment}}', r.payload::jsonb#>>'{observed_transfer,${in_book_chain}}')`;

/** Whether the receipt `r` signs that its transfer went to this address, in any spelling. @param address placeholder of the query */
export function isSignedPayee(address: string): string {
  return `lower(${signedMember('pay_to', 'pay_to')}) = lower(${address})`;
}

const SIGNED_INDEX = signedMember('transfer_index', 'index');

/**
 * From a leaf on, by the index of a payer's receipts. Where a receipt signs no index, the payee is compared, because the payer may have
 * others in the same transaction.
 */
async function isOfReceipt(
  database: Pick<Database, 'query'>,
  { network, transaction, index, payer, pay_to }: ObservedTransfer,
  from_leaf: number,
): Promise<boolean> {
  const found = await database.query({
    name: 'receipt of a transfer',
    text: `select 1 from receipt r where payer_wallet = $1 and payment_ref is not null and leaf_index >= $4
        and (payment_ref = $2 or ingress_receipt->>'ref' = $2)
        and case when ${SIGNED_INDEX} is null then ${isSignedPayee('$5')} else (${SIGNED_INDEX})::int = $3::int end
      limit 1`,
    values: [payer, `${network}:${transaction}`, index, from_leaf, pay_to],
  });
  return found.length > 0;
}
