import type { ObservedTransfer } from '../../../schema/observed-transfer.ts';
import type { Database } from '../../database.ts';

/** A transfer whose index within its transaction is known. */
type PlacedTransfer = Pick<ObservedTransfer, 'network' | 'transaction' | 'payer' | 'pay_to'> & {
  readonly index: number;
};

/** Finds payments of receipts in the log by their transfers, so that a payer's receipts need not be read one by one. */
export interface PaymentIndex {
  /**
   * `found`: whether the transfer pays for a receipt. `followed`: number of leaves of the log whose payments the index has. Payments that
   * were seen only after signing are in the index for all leaves.
   */
  look(transfer: PlacedTransfer): Promise<{ readonly found: boolean; readonly followed: number }>;
}

/**
 * Whether a transfer pays for a receipt of this service, or may still do so. Its payee may be a former treasury, and its call may be on no
 * book or on another agent's book. The payer's open payments are checked first, then the index, then the receipts that the index does not
 * have yet. A payment that moves on meanwhile moves in the same order, so it is not missed.
 */
export async function isOwnTransfer(
  {
    database,
    payment_index,
  }: { readonly database: Pick<Database, 'query'>; readonly payment_index: PaymentIndex | null },
  transfer: ObservedTransfer,
): Promise<boolean> {
  const { network, transaction, index, payer, pay_to } = transfer;
  // Only a transfer on Nano has no index, because a block is one transfer there. No call is paid for on Nano.
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

/** SQL condition on the payee. Each use is combined with the condition of a separate index. */
const TO_PAYEE = `lower("authorization"->>'pay_to') = lower($2)`;

/**
 * SQL expression for a fact about the transfer that receipt `r` signs. A book chain signs it in `observed_transfer`, other receipts in
 * `payment`.
 */
const signedMember = (in_payment: string, in_book_chain: string): string =>
  `coalesce(r.payload::jsonb#>>'{payment,${in_payment}}', r.payload::jsonb#>>'{observed_transfer,${in_book_chain}}')`;

/**
 * SQL condition that receipt `r` signs this address as the payee of its transfer, in any spelling. @param address placeholder of the query
 */
export function isSignedPayee(address: string): string {
  return `lower(${signedMember('pay_to', 'pay_to')}) = lower(${address})`;
}

const SIGNED_INDEX = signedMember('transfer_index', 'index');

/**
 * Whether the transfer pays for a receipt at leaf `from_leaf` or later. Uses the database index of a payer's receipts. If a receipt signs
 * no transfer index, the payee is compared, because the payer may have other transfers in the same transaction.
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
