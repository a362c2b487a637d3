import { pairPayments } from '../../../../schema/payment-pairs.ts';

/** A USDC transfer from the wallet to a treasury, as the chain shows it. */
export interface SeenTransfer {
  /** In lower case, with the prefix 0x. */
  readonly tx_hash: string;
  /** Index of the log within its block. */
  readonly log_index: number;
  readonly block_number: number;
  /** Payee in lower case. */
  readonly to: string;
  readonly amount: bigint;
}

/** The payment on Base that a receipt with valid signatures names. */
export interface WalletPayment {
  readonly task_id: string;
  readonly tx_hash: string;
  /** Null if only a facilitator had reported the payment when the receipt was signed. */
  readonly transfer_index: number | null;
  readonly pay_to: string;
  readonly amount: bigint;
}

/** A transfer or a receipt that the other side contradicts. */
export type PaymentMismatch =
  | { readonly kind: 'transfer_without_receipt'; readonly transfer: SeenTransfer }
  | { readonly kind: 'receipt_without_transfer'; readonly receipt: WalletPayment }
  | { readonly kind: 'amount_differs'; readonly receipt: WalletPayment; readonly transfer: SeenTransfer }
  | { readonly kind: 'payment_used_twice'; readonly receipt: WalletPayment; readonly transfer: SeenTransfer };

export interface MatchReport {
  readonly matched: number;
  readonly findings: readonly PaymentMismatch[];
}

/**
 * Compares receipts with transfers, paired by `pairPayments`: each transfer must back one receipt of its amount, and each receipt
 * must have a transfer.
 */
export function matchPayments(receipts: readonly WalletPayment[], transfers: readonly SeenTransfer[]): MatchReport {
  const findings: PaymentMismatch[] = [];
  const taken = new Set<SeenTransfer>();
  for (const pair of pairPayments(receipts, transfers)) {
    const { payment: receipt } = pair;
    if (pair.kind === 'missing') {
      findings.push({ kind: 'receipt_without_transfer', receipt });
      continue;
    }
    const { transfer } = pair;
    if (pair.kind === 'taken') findings.push({ kind: 'payment_used_twice', receipt, transfer });
    else if (transfer.amount !== receipt.amount) findings.push({ kind: 'amount_differs', receipt, transfer });
    taken.add(transfer);
  }
  for (const transfer of transfers)
    if (!taken.has(transfer)) findings.push({ kind: 'transfer_without_receipt', transfer });
  const found = findings.filter(({ kind }) => kind !== 'transfer_without_receipt').length;
  return { matched: receipts.length - found, findings };
}
