import type { AlertCeiling } from '../../../schema/book-alerts.ts';

/* Alerts that a book has sent, so that none is repeated in its period. Pure. */

/** Subjects of alerts: each ceiling with its percentages, and the two rates. */
export type AlertSubject = AlertCeiling | 'burn' | 'budget_end';

interface SentAlerts {
  /** Start of the period in which it was sent. Null for the budget, which has no period. */
  readonly since: string | null;
  /** Percentages of a ceiling. */
  readonly percents: readonly number[];
}

/** Usual spending of a book. */
export interface UsualSpending {
  /** UTC day for which it holds, computed from the days before. */
  readonly day: string;
  /** Number of those days with spending. */
  readonly days: number;
  readonly median_atomic: string;
}

/**
 * Sent alerts and the sums that alerts are judged by. Stored on the head and written under its lock. Times are ISO 8601, amounts
 * are digits.
 */
export interface AlertState {
  readonly told?: Readonly<Partial<Record<AlertSubject, SentAlerts>>>;
  /** Amount collected in the clock hour before the current one. */
  readonly hour_before?: { readonly start: string; readonly atomic: string };
  readonly habit?: UsualSpending;
}

/** An alert that applies, and is sent unless it was sent before. */
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

/** Forgets the alerts of the budget, because it was set again. */
export function withoutBudget(state: AlertState): AlertState {
  const { budget, ...told } = state.told ?? {};
  return budget === undefined ? state : { ...state, told };
}
