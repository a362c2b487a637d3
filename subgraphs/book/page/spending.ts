import { type AtomicAmount, atomicAmount, remainder } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';

/* Spending of a book: the spent and pending amounts, and the amount that is available for a new call. */

/** Counters from which the spending is computed. */
export interface SpendingCounters {
  /** Budget Y. Null if unlimited. */
  readonly budgetAtomic: AtomicAmount | null;
  /** Sum of all rows that count toward the budget, whether or not their transfer was seen. */
  readonly spentAtomic: AtomicAmount;
  readonly reservedAtomic: AtomicAmount;
  /** Sum of the rows that are RECORDED_BY_SETTLE. It is a part of `spentAtomic`. */
  readonly unseenAtomic: AtomicAmount;
}

export interface BookSpending {
  readonly cap: AtomicAmount | null;
  /** Sum of the collected amounts that count toward the budget. */
  readonly spent: AtomicAmount;
  readonly remaining: AtomicAmount | null;
  /** Sum that caps count although it is not collected yet. It will be collected or released. */
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

/** Amounts as decimal digits, with the member names of REST. */
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
 * Columns of `book` for a statement about book $1. The sum of the RECORDED_BY_SETTLE rows is read from the sums by evidence and
 * day, which earlier versions also write.
 */
export const SPENDING_COLUMNS = `budget_atomic as "budgetAtomic", spent_atomic as "spentAtomic", reserved_atomic as "reservedAtomic",
  coalesce((select sum(amount) from book_sum where agent_id = $1 and dimension = 'evidence'
    and bucket = 'RECORDED_BY_SETTLE'), 0) as "unseenAtomic"`;
