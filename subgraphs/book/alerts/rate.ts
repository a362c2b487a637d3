import { type AtomicAmount, atomicAmount, parseAtomic } from '../../../schema/amount.ts';
import { period_ms, periodStart, type Window, windowAt } from '../../../schema/clock-window.ts';
import { alertLimits } from '../../../schema/limits.ts';
import { iso } from '../../clock.ts';
import type { AlertState, UsualSpending } from './state.ts';

/* Hourly rate and usual daily spending of a book, and the time at which its budget ends at that rate. The functions are pure. */

const HOUR_MS = BigInt(period_ms.hour);

/** Sums from which the rate is computed: the current clock hour and the one before it. */
export interface Hours {
  readonly hour: Window;
  readonly alert_state: AlertState;
}

/** Stores the sum of the previous clock hour when a row starts a new one. Removes the stored sum if an hour without rows lies between. */
export function keepHourBefore(state: AlertState, before: Window, after: Window): AlertState {
  if (before.start_ms === after.start_ms) return state;
  const { hour_before, ...others } = state;
  if (before.start_ms !== null && after.start_ms === before.start_ms + period_ms.hour)
    return { ...others, hour_before: { start: iso(before.start_ms), atomic: before.atomic.toString() } };
  return hour_before === undefined ? state : others;
}

/**
 * Amount collected in the last 60 minutes, estimated from two counters: the whole current clock hour, and the share of the previous
 * clock hour that lies within the 60 minutes, as if spent evenly. It is exact at the end of an hour and never more than the sum of both.
 */
export function lastHour({ hour, alert_state: { hour_before } }: Hours, at_ms: number): AtomicAmount {
  const { start_ms, atomic } = windowAt(hour, 'hour', at_ms);
  const counted =
    hour.start_ms === start_ms ? hour_before : hour.start_ms !== null && asStored(hour.start_ms, hour.atomic);
  const previous =
    counted && Date.parse(counted.start) === start_ms - period_ms.hour ? (parseAtomic(counted.atomic) ?? 0n) : 0n;
  const left_ms = BigInt(Math.min(Math.max(start_ms + period_ms.hour - at_ms, 0), period_ms.hour));
  return atomicAmount(atomic + (previous * left_ms) / HOUR_MS);
}

const asStored = (start_ms: number, atomic: AtomicAmount) => ({ start: iso(start_ms), atomic: atomic.toString() });

/** Time (Unix ms) at which the budget ends at this hourly rate. Null if the budget is used up or its end cannot be forecast. */
export function budgetEnd(rate: AtomicAmount, left: AtomicAmount, at_ms: number): number | null {
  if (rate < alertLimits.rate_atomic_min || left === 0n) return null;
  const in_ms = (left * HOUR_MS) / rate;
  return in_ms > BigInt(alertLimits.budget_end_hours_max) * HOUR_MS ? null : at_ms + Number(in_ms);
}

/** Start of the clock hour (UTC) that contains a time, as ISO 8601. */
export const hourOf = (at_ms: number): string => iso(periodStart('hour', at_ms));
export const dayOf = (at_ms: number): string => iso(periodStart('day', at_ms));

/** Median of the daily spending. @param spent amounts of the days before `day`, without days that had no spending */
export function usualSpendingOf(day: string, spent: readonly bigint[]): UsualSpending {
  const ascending = spent.toSorted((one, other) => (one < other ? -1 : 1));
  const half = ascending.length / 2;
  const middle = ascending.slice(Math.ceil(half) - 1, Math.floor(half) + 1);
  const median = middle.length === 0 ? 0n : middle.reduce((sum, one) => sum + one, 0n) / BigInt(middle.length);
  return { day, days: ascending.length, median_atomic: median.toString() };
}
