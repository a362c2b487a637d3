import { type AtomicAmount, atomicAmount, remainder } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';

/* Spending of a book: spent, pending, and what is left for a new call. */

/** Counters from which it is computed. */
export interface SpendingCounters {
  /** Budget Y; null is unlimited. */
  readonly budgetAtomic: AtomicAmount | null;
  /** Sum of all rows under the budget, whether their transfer was seen or not. */
  readonly spentAtomic: AtomicAmount;
  readonly reservedAtomic: AtomicAmount;
  /** Sum of rows that are RECORDED_BY_SETTLE, a part of `spentAtomic`. */
  readonly unseenAtomic: AtomicAmount;
}

export interface BookSpending {
  readonly cap: AtomicAmount | null;
  /** Collected amounts under the budget. */
  readonly spent: AtomicAmount;
  readonly remaining: AtomicAmount | null;
  /** Counted by caps but not collected. It is collected or released later. */
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

/** Amounts as digits with the names of REST. */
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
 * Columns of `book` for a statement about book $1. RECORDED_BY_SETTLE rows are read from the sums by evidence, one per day, which
 * earlier versions write too.
 */
export const SPENDING_COLUMNS = `budget_atomic as "budgetAtomic", spent_atomic as "spentAtomic", reserved_atomic as "reservedAtomic",
  coalesce((select sum(amount) from book_sum where agent_id = $1 and dimension = 'evidence'
    and bucket = 'RECORDED_BY_SETTLE'), 0) as "unseenAtomic"`;
