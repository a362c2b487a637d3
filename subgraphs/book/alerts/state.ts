import type { AlertCeiling } from '../../../schema/book-alerts.ts';

/* Records which alerts a book has sent, so that each is sent once in its period. The functions are pure. */

/** Subject of an alert: a ceiling (with percentages) or one of the two rates. */
export type AlertSubject = AlertCeiling | 'burn' | 'budget_end';

interface SentAlerts {
  /** Start of the period in which the alerts were sent. Null for the budget, which has no period. */
  readonly since: string | null;
  /** Percentages of the ceiling for which an alert was sent. Empty for the two rates. */
  readonly percents: readonly number[];
}

/** Usual daily spending of a book. */
export interface UsualSpending {
  /** Start of the UTC day for which the median is used. It is computed from the days before. */
  readonly day: string;
  /** Number of earlier days that had spending. */
  readonly days: number;
  readonly median_atomic: string;
}

/**
 * Alerts that were sent, and the sums by which alerts are judged. Stored on the head and written under its lock. Times are ISO 8601,
 * amounts are strings of digits.
 */
export interface AlertState {
  readonly told?: Readonly<Partial<Record<AlertSubject, SentAlerts>>>;
  /** Amount collected in the clock hour before the current one. */
  readonly hour_before?: { readonly start: string; readonly atomic: string };
  readonly habit?: UsualSpending;
}

/** Key of an alert. Two alerts with the same key are sent once. */
export interface AlertName {
  readonly subject: AlertSubject;
  readonly percent: number | null;
  readonly period_start: string | null;
}

export function wasSent({ told }: AlertState, { subject, percent, period_start }: AlertName): boolean {
  const before = told?.[subject];
  if (before?.since !== period_start) return false;
  return percent === null || before.percents.includes(percent);
}

export function recordAlert(state: AlertState, { subject, percent, period_start }: AlertName): AlertState {
  const before = state.told?.[subject];
  const percents = before?.since === period_start ? before.percents : [];
  const now = { since: period_start, percents: percent === null ? percents : [...percents, percent] };
  return { ...state, told: { ...state.told, [subject]: now } };
}

/** Forgets which alerts of the budget were sent, so that they can be sent for a newly set budget. */
export function withoutBudget(state: AlertState): AlertState {
  const { budget, ...told } = state.told ?? {};
  return budget === undefined ? state : { ...state, told };
}
