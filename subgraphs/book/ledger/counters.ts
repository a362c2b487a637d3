import { type AtomicAmount, atomicAmount } from '../../../schema/amount.ts';
import { addToWindow, type Window } from '../../../schema/clock-window.ts';
import { type Evidence, isSpentElsewhere } from '../../../schema/evidence.ts';

/** Counters of a book, from which every total and cap is answered without a scan. */
export interface Counters {
  readonly spent_atomic: AtomicAmount;
  /** Number and sum of the rows that have an amount, by rail. */
  readonly by_rail: Readonly<Record<string, { readonly count: number; readonly amount: string }>>;
  readonly hour: Window;
  readonly day: Window;
}

/** Members of a row that the counters use. */
export interface Countable {
  readonly amount: AtomicAmount | null;
  readonly rail: string | null;
  readonly evidence: Evidence;
}

/**
 * Counts a row, or removes it (`times` -1) because its payment never arrived. Rows without an amount are in no sum. Spending
 * elsewhere is counted by its rail only, because no cap applies to it and it may not be USDC.
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
    hour: addToWindow(counters.hour, 'hour', at_ms, amount),
    day: addToWindow(counters.day, 'day', at_ms, amount),
  };
}

function onRail(by_rail: Counters['by_rail'], rail: string | null, amount: bigint, times: number): Counters['by_rail'] {
  if (rail === null) return by_rail;
  const { [rail]: before = { count: 0, amount: '0' }, ...others } = by_rail;
  const count = before.count + times;
  if (count === 0) return others;
  return { ...by_rail, [rail]: { count, amount: atomicAmount(BigInt(before.amount) + amount).toString() } };
}
