import { type AtomicAmount, atomicAmount, remainder } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';

/* What a book has spent, what may still become spend, and what is left for a new call. */

/** The counters of a book that this follows from. */
export interface SpendingCounters {
  /** Budget Y; null is unlimited. */
  readonly budgetAtomic: AtomicAmount | null;
  /** Of all rows under the budget from their birth on: collected ones, and those whose money nobody has seen yet. */
  readonly spentAtomic: AtomicAmount;
  readonly reservedAtomic: AtomicAmount;
  /** Of rows that are RECORDED_BY_SETTLE; a part of `spentAtomic`. */
  readonly unseenAtomic: AtomicAmount;
}

export interface BookSpending {
  readonly cap: AtomicAmount | null;
  /** Collected under the budget, and nothing else. */
  readonly spent: AtomicAmount;
  readonly remaining: AtomicAmount | null;
  /** Counted by ceilings and caps, and not collected: it becomes spend, or is given back. */
  readonly pending: AtomicAmount;
  readonly available: AtomicAmount | null;
}

export function spendingOf({
  budgetAtomic,
  spentAtomic,
  reservedAtomic,
  unseenAtomic,
}: SpendingCounters): BookSpending {
  const spent = remainder(spentAtomic, unseenAtomic);
  const pending = atomicAmount(unseenAtomic + reservedAtomic);
  const remaining = budgetAtomic === null ? null : remainder(budgetAtomic, spent);
  const available = remaining === null ? null : remainder(remaining, pending);
  return { cap: budgetAtomic, spent, remaining, pending, available };
}

/** Amounts as digits, by the names of the REST answers. */
export function spendingDocument({ cap, spent, remaining, pending, available }: BookSpending): JsonObject {
  const digits = (amount: AtomicAmount | null) => amount?.toString() ?? null;
  return {
    cap: digits(cap),
    spent: digits(spent),
    remaining: digits(remaining),
    pending: digits(pending),
    available: digits(available),
  };
}

/**
 * What of `book` this follows from, for a statement about book $1. Rows that are RECORDED_BY_SETTLE are read off the sums by
 * evidence, one for each day: a process of the version before counts them there, too.
 */
export const SPENDING_COLUMNS = `budget_atomic as "budgetAtomic", spent_atomic as "spentAtomic", reserved_atomic as "reservedAtomic",
  coalesce((select sum(amount) from book_sum where agent_id = $1 and dimension = 'evidence'
    and bucket = 'RECORDED_BY_SETTLE'), 0) as "unseenAtomic"`;
