/* Matches named payments with transfers on the chain, in the same way for monitor, reports and verifier. */

/** A payment as a receipt or a row names it. */
export interface PaymentPlace {
  /** Lower-case, 0x. */
  readonly tx_hash: string;
  /** Log index within its block. Null if the transfer had not been seen when this was signed. */
  readonly transfer_index: number | null;
  /** Lower-case. Null if unknown. */
  readonly pay_to: string | null;
  readonly amount: bigint;
}

/** A USDC transfer on the chain. */
export interface PlacedTransfer {
  /** Lower-case, 0x. */
  readonly tx_hash: string;
  /** Log index within its block. */
  readonly log_index: number;
  /** Lower-case. */
  readonly to: string;
  readonly amount: bigint;
}

/** `taken`: the transfer already belongs to another payment. */
export type Pair<P, T> =
  | { readonly kind: 'found'; readonly payment: P; readonly transfer: T }
  | { readonly kind: 'taken'; readonly payment: P; readonly transfer: T }
  | { readonly kind: 'missing'; readonly payment: P };

/**
 * One result per payment. Payments that name their transfer are matched first. A payment without an index takes any remaining
 * transfer of its transaction with the same payee and amount.
 */
export function pairPayments<P extends PaymentPlace, T extends PlacedTransfer>(
  payments: readonly P[],
  transfers: readonly T[],
): Pair<P, T>[] {
  const taken = new Set<T>();
  const named = payments.toSorted(
    (one, other) => Number(one.transfer_index === null) - Number(other.transfer_index === null),
  );
  const transactions = Map.groupBy(transfers, ({ tx_hash }) => tx_hash);
  return named.map(payment => {
    const fitting = (transactions.get(payment.tx_hash) ?? []).filter(transfer => isOf(payment, transfer));
    const transfer = fitting.find(each => !taken.has(each)) ?? fitting[0];
    if (!transfer) return { kind: 'missing', payment };
    const kind = taken.has(transfer) ? 'taken' : 'found';
    taken.add(transfer);
    return { kind, payment, transfer };
  });
}

/** Whether a transfer of the same transaction matches the payment. */
function isOf({ transfer_index, pay_to, amount }: PaymentPlace, transfer: PlacedTransfer): boolean {
  if (pay_to !== null && transfer.to !== pay_to) return false;
  return transfer_index === null ? transfer.amount === amount : transfer.log_index === transfer_index;
}
