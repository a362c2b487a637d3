import type { AlertCeiling } from '../../../schema/book-alerts.ts';

/* What a book has told, so that nothing is told twice in its period. Pure. */

/** What is told of once in a period: each ceiling at its percents, and the two rates. */
export type AlertSubject = AlertCeiling | 'burn' | 'budget_end';

interface Told {
  /** When the period began in which it was told; null for the budget, which has none. */
  readonly since: string | null;
  /** Of a ceiling. */
  readonly percents: readonly number[];
}

/** What a book is used to spend. */
export interface Habit {
  /** The UTC day for which it holds: it is of the days before. */
  readonly day: string;
  /** Those of them with spend. */
  readonly days: number;
  readonly median_atomic: string;
}

/** What a book has told, and what it judges by. Kept on its head and written under its lock: times are ISO 8601, amounts digits. */
export interface AlertState {
  readonly told?: Readonly<Partial<Record<AlertSubject, Told>>>;
  /** What was collected in the clock hour right before the one that the head counts. */
  readonly hour_before?: { readonly start: string; readonly atomic: string };
  readonly habit?: Habit;
}

/** Something that is so, and is told unless it has been. */
export interface AlertName {
  readonly subject: AlertSubject;
  readonly percent: number | null;
  readonly period_start: string | null;
}

export function wasTold({ told }: AlertState, { subject, percent, period_start }: AlertName): boolean {
  const before = told?.[subject];
  if (before?.since !== period_start) return false;
  return percent === null || before.percents.includes(percent);
}

export function tell(state: AlertState, { subject, percent, period_start }: AlertName): AlertState {
  const before = state.told?.[subject];
  const percents = before?.since === period_start ? before.percents : [];
  const now = { since: period_start, percents: percent === null ? percents : [...percents, percent] };
  return { ...state, told: { ...state.told, [subject]: now } };
}

/** Another budget is told of anew. */
export function withoutBudget(state: AlertState): AlertState {
  const { budget, ...told } = state.told ?? {};
  return budget === undefined ? state : { ...state, told };
}
