import { type PaymentPlace, type PlacedTransfer, pairPayments } from './payment-pairs.ts';

/* Classification of USDC transfers of a wallet. Shared by the service, the command and the verifier. */

export const RECONCILIATION_RULE_VERSION = 1;

/**
 * - `receipted`: a receipt of this service names it;
 * - `ingested`: it was paid to others and is recorded on a book of this service;
 * - `unreceipted`: no record here names it;
 * - `self_dealt`: the payee belongs to the payer. It is no spending, even if a record names it.
 */
export const transferClasses = ['receipted', 'ingested', 'unreceipted', 'self_dealt'] as const;
export type TransferClass = (typeof transferClasses)[number];

/** A transfer of USDC from the wallet. */
export interface SentTransfer extends PlacedTransfer {
  readonly block_number: number;
}

/** Record that names a payment: a receipt of a purchase here, or a row of a payment to others. */
export interface TransferUse extends PaymentPlace {
  readonly kind: 'receipt' | 'ingest';
}

/** `use` of a self-dealt transfer is the record that names it, or null. */
export type TransferClassification<T, U> =
  | { readonly class: 'receipted' | 'ingested'; readonly transfer: T; readonly use: U }
  | { readonly class: 'unreceipted'; readonly transfer: T; readonly use: null }
  | { readonly class: 'self_dealt'; readonly transfer: T; readonly use: U | null };

/**
 * Keeps the order. A use matches the one transfer that it names, with exactly its amount; of two that name the same, the first
 * matches.
 * @param own lower-case addresses of the paying wallet and of all other wallets of its owner
 */
export function classifyTransfers<T extends SentTransfer, U extends TransferUse>(
  transfers: readonly T[],
  { own, uses }: { readonly own: ReadonlySet<string>; readonly uses: readonly U[] },
): TransferClassification<T, U>[] {
  const backed = new Map<T, U>();
  for (const pair of pairPayments(uses, transfers))
    if (pair.kind === 'found' && pair.transfer.amount === pair.payment.amount) backed.set(pair.transfer, pair.payment);
  return transfers.map(transfer => {
    const use = backed.get(transfer) ?? null;
    if (own.has(transfer.to)) return { class: 'self_dealt', transfer, use };
    if (use === null) return { class: 'unreceipted', transfer, use };
    return { class: classOf[use.kind], transfer, use };
  });
}

const classOf = { receipt: 'receipted', ingest: 'ingested' } as const;

export interface ClassSum {
  readonly count: number;
  /** Atomic USDC. */
  readonly amount: bigint;
}
export type ClassSums = Readonly<Record<TransferClass, ClassSum>>;

const nothing: ClassSum = { count: 0, amount: 0n };

export const noSums: ClassSums = { receipted: nothing, ingested: nothing, unreceipted: nothing, self_dealt: nothing };

/** Adds these to earlier sums. */
export function sumClasses(
  before: ClassSums,
  more: readonly { readonly class: TransferClass; readonly transfer: { readonly amount: bigint } }[],
): ClassSums {
  const sums = { ...before };
  for (const { class: of, transfer } of more)
    sums[of] = { count: sums[of].count + 1, amount: sums[of].amount + transfer.amount };
  return sums;
}
