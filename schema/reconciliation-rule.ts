import { type PaymentPlace, type PlacedTransfer, pairPayments } from './payment-pairs.ts';

/* What each USDC transfer of a wallet is: the same for the service's report, for whoever makes one alone, and for who verifies. */

export const RECONCILIATION_RULE_VERSION = 1;

/**
 * - `receipted`: a receipt of this service names it;
 * - `ingested`: it was paid to somebody else, and is recorded on a book of this service;
 * - `unreceipted`: nothing here rests on it;
 * - `self_dealt`: its payee is the payer's own. That is no spend, whatever rests on it.
 */
export const transferClasses = ['receipted', 'ingested', 'unreceipted', 'self_dealt'] as const;
export type TransferClass = (typeof transferClasses)[number];

/** USDC that left the wallet. */
export interface SentTransfer extends PlacedTransfer {
  readonly block_number: number;
}

/** What rests on a payment: a receipt for what was bought here, or a row that tells of a payment to somebody else. */
export interface TransferUse extends PaymentPlace {
  readonly kind: 'receipt' | 'ingest';
}

/** `use` of a self-dealt one: what rests on it all the same, or null. */
export type Classified<T, U> =
  | { readonly class: 'receipted' | 'ingested'; readonly transfer: T; readonly use: U }
  | { readonly class: 'unreceipted'; readonly transfer: T; readonly use: null }
  | { readonly class: 'self_dealt'; readonly transfer: T; readonly use: U | null };

/**
 * Each in the order given. A use backs the one transfer that it names, at its very amount; of two that name one the first.
 * @param own lower-case: the paying wallet, and all others of whoever it is
 */
export function classifyTransfers<T extends SentTransfer, U extends TransferUse>(
  transfers: readonly T[],
  { own, uses }: { readonly own: ReadonlySet<string>; readonly uses: readonly U[] },
): Classified<T, U>[] {
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

/** What was summed before, and these. */
export function sumClasses(
  before: ClassSums,
  more: readonly { readonly class: TransferClass; readonly transfer: { readonly amount: bigint } }[],
): ClassSums {
  const sums = { ...before };
  for (const { class: of, transfer } of more)
    sums[of] = { count: sums[of].count + 1, amount: sums[of].amount + transfer.amount };
  return sums;
}
