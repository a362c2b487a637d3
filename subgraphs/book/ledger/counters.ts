import { type AtomicAmount, atomicAmount } from '../../../schema/amount.ts';
import { counted, type Window } from '../../../schema/clock-window.ts';
import { type Evidence, isSpentElsewhere } from '../../../schema/evidence.ts';

/** The counters of a book: they answer every total and every cap without a scan. */
export interface Counters {
  readonly spent_atomic: AtomicAmount;
  /** Over the rows that carry an amount. */
  readonly by_rail: Readonly<Record<string, { readonly count: number; readonly amount: string }>>;
  readonly hour: Window;
  readonly day: Window;
}

/** What of a row is counted, and the time that says in which hour and day. */
export interface Countable {
  readonly amount: AtomicAmount | null;
  readonly rail: string | null;
  readonly evidence: Evidence;
}

/**
 * Counts a row from its birth on, and no more (`times` -1) where its money turns out never to have come. A row without
 * an amount is in no sum. What was spent elsewhere counts by its rail alone: no ceiling of the book is one of that, and it
 * may be no USDC at all.
 */
export function tally<C extends Counters>(counters: C, row: Countable, at_ms: number, times: 1 | -1): C {
  if (row.amount === null) return counters;
  const amount = row.amount * BigInt(times);
  const by_rail = onRail(counters.by_rail, row.rail, amount, times);
  if (isSpentElsewhere(row.evidence)) return { ...counters, by_rail };
  return {
    ...counters,
    spent_atomic: atomicAmount(counters.spent_atomic + amount),
    by_rail,
    hour: counted(counters.hour, 'hour', at_ms, amount),
    day: counted(counters.day, 'day', at_ms, amount),
  };
}

function onRail(by_rail: Counters['by_rail'], rail: string | null, amount: bigint, times: number): Counters['by_rail'] {
  if (rail === null) return by_rail;
  const { [rail]: before = { count: 0, amount: '0' }, ...others } = by_rail;
  const count = before.count + times;
  if (count === 0) return others;
  return { ...by_rail, [rail]: { count, amount: atomicAmount(BigInt(before.amount) + amount).toString() } };
}
