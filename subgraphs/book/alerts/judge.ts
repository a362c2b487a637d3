import { type AtomicAmount, parseAtomic, remainder } from '../../../schema/amount.ts';
import {
  type AlertCeiling,
  type AlertKind,
  type AlertSettings,
  alertCeilings,
  alertKinds,
  type KeptAlertSettings,
  settingsInForce,
} from '../../../schema/book-alerts.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { period_ms, type Window, windowAt } from '../../../schema/clock-window.ts';
import { alertLimits } from '../../../schema/limits.ts';
import type { BookPolicy } from '../../../schema/policy-kinds.ts';
import { wordList } from '../../../schema/words.ts';
import { iso } from '../../clock.ts';
import { budgetEnd, dayOf, type Hours, hourOf, lastHour } from './rate.ts';
import { type AlertName, type AlertState, recordAlert, wasSent } from './state.ts';

/** State of a book after a row was collected. It decides which alerts are due. */
export interface AlertedBook extends Hours {
  readonly policy: BookPolicy;
  readonly budget_atomic: AtomicAmount | null;
  readonly spent_atomic: AtomicAmount;
  readonly day: Window;
  readonly alert_settings: KeptAlertSettings;
}

interface DueAlert extends AlertName {
  /** Other members of the event of the alert. Amounts are strings of digits. */
  readonly facts: JsonObject;
}

interface AlertInput {
  readonly book: AlertedBook;
  readonly settings: AlertSettings;
  /** Amount collected in the last hour. */
  readonly rate: AtomicAmount;
  readonly at_ms: number;
}

interface Ceiling {
  readonly cap_atomic: AtomicAmount;
  readonly spent_atomic: AtomicAmount;
  readonly period_start: string | null;
}

const ceilings: Readonly<Record<AlertCeiling, (book: AlertedBook, at_ms: number) => Ceiling | null>> = {
  hourly_cap: capOf('hour'),
  daily_cap: capOf('day'),
  budget: ({ budget_atomic, spent_atomic }) =>
    budget_atomic === null ? null : { cap_atomic: budget_atomic, spent_atomic, period_start: null },
};

function capOf(period: 'hour' | 'day'): (typeof ceilings)[AlertCeiling] {
  return ({ policy, [period]: window }, at_ms) => {
    const set = period === 'hour' ? policy.hourly_cap : policy.daily_cap;
    // Calls are refused while a cap is unreadable. Here the cap is ignored, so that a payment can still be recorded.
    const cap_atomic = set === undefined ? null : parseAtomic(set);
    if (cap_atomic === null) return null;
    const { start_ms, atomic } = windowAt(window, period, at_ms);
    return { cap_atomic, spent_atomic: atomic, period_start: iso(start_ms) };
  };
}

/** Rule of each kind of alert. It returns all alerts that apply to the book, including those that were already sent. */
const rules: Readonly<Record<AlertKind, (seen: AlertInput) => readonly DueAlert[]>> = {
  threshold: ({ book, settings: { thresholds_percent }, at_ms }) =>
    wordList(alertCeilings).flatMap(subject => {
      const ceiling = ceilings[subject](book, at_ms);
      if (ceiling === null) return [];
      const { cap_atomic, spent_atomic, period_start } = ceiling;
      const reached = thresholds_percent.filter(percent => spent_atomic * 100n >= cap_atomic * BigInt(percent));
      const sums = { spent_atomic: spent_atomic.toString(), cap_atomic: cap_atomic.toString(), period_start };
      return reached.map(percent => ({
        subject,
        percent,
        period_start,
        facts: { ceiling: subject, percent, ...sums },
      }));
    }),

  burn({ book, settings: { burn_factor }, rate, at_ms }) {
    const { habit } = book.alert_state;
    const period_start = dayOf(at_ms);
    if (habit?.day !== period_start || habit.days < alertLimits.habit_days_min) return [];
    const median = parseAtomic(habit.median_atomic) ?? 0n;
    if (rate < alertLimits.rate_atomic_min || rate * HOURS_OF_DAY < BigInt(burn_factor) * median) return [];
    const habit_atomic = (median / HOURS_OF_DAY).toString();
    const facts = { rate_atomic: rate.toString(), habit_atomic, factor: burn_factor, period_start };
    return [{ subject: 'burn', percent: null, period_start, facts }];
  },

  budget_end({ book, settings: { budget_end_hours }, rate, at_ms }) {
    const ceiling = ceilings.budget(book, at_ms);
    if (ceiling === null) return [];
    const { cap_atomic, spent_atomic } = ceiling;
    const ends_ms = budgetEnd(rate, remainder(cap_atomic, spent_atomic), at_ms);
    if (ends_ms === null || ends_ms - at_ms > budget_end_hours * period_ms.hour) return [];
    const period_start = dayOf(at_ms);
    const sums = { spent_atomic: spent_atomic.toString(), cap_atomic: cap_atomic.toString(), period_start };
    const facts = { ceiling: 'budget', ...sums, rate_atomic: rate.toString(), budget_ends_at: hourOf(ends_ms) };
    return [{ subject: 'budget_end', percent: null, period_start, facts }];
  },
};

const HOURS_OF_DAY = 24n;

/**
 * Returns the alerts to send after a row was counted (as bodies of events) and the new alert state. Each alert is sent once in its
 * period, even if an amount is subtracted later and collected again.
 */
export function judgeAlerts(book: AlertedBook, at_ms: number): { alerts: readonly JsonObject[]; state: AlertState } {
  const seen = { book, settings: settingsInForce(book.alert_settings), rate: lastHour(book, at_ms), at_ms };
  let state = book.alert_state;
  const alerts: JsonObject[] = [];
  for (const alert of wordList(alertKinds))
    for (const { facts, ...name } of rules[alert](seen)) {
      if (wasSent(state, name)) continue;
      state = recordAlert(state, name);
      alerts.push({ alert, ...facts });
    }
  return { alerts, state };
}

/**
 * Whether the usual spending must be read before a row is counted. It is read once a day, when the amount of the last hour becomes
 * high enough for a burn alert.
 */
export function wantsUsualSpending(book: AlertedBook, amount: bigint, at_ms: number): boolean {
  const day = dayOf(at_ms);
  if (book.alert_state.habit?.day === day) return false;
  return lastHour(book, at_ms) + amount >= alertLimits.rate_atomic_min;
}
