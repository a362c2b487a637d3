import { z } from 'zod';
import { alertLimits } from './limits.ts';
import { AtomicMember, sizedList, TimeMember, word, wordText } from './noun.ts';
import { proofMethods } from './principal.ts';
import type { WordOf, Words } from './words.ts';

/*
 * Alerts that a book sends before a cap or the budget is reached: their kinds, their settings and what is shown of them.
 * subgraphs/book/alerts decides when one is sent.
 */

export const alertKinds = {
  graph: 'BookAlertKind',
  description: 'Kind of alert that a book sends to its owner.',
  meanings: {
    threshold: 'The amount counted under a cap or the budget has reached a chosen percentage of it.',
    burn: 'The amount spent in the last hour is at least `burn_factor` times what the book usually spends in an hour.',
    budget_end: 'At the rate of the last hour, the budget will be used up within `budget_end_hours`.',
  },
} as const satisfies Words;
export type AlertKind = WordOf<typeof alertKinds>;

export const alertCeilings = {
  graph: 'BookCeiling',
  description: 'Limit of a book that an alert is about.',
  meanings: {
    hourly_cap: 'The policy `hourly_cap`: limit on spend per UTC clock hour.',
    daily_cap: 'The policy `daily_cap`: limit on spend per UTC day.',
    budget: 'The budget: limit on all spend of the book, except ingested payments.',
  },
} as const satisfies Words;
export type AlertCeiling = WordOf<typeof alertCeilings>;

/** Settings in force on a book. */
export interface AlertSettings {
  /** Percentages of each ceiling, ascending. */
  readonly thresholds_percent: readonly number[];
  /** Multiple of the usual hourly spending at which the book alerts. */
  readonly burn_factor: number;
  /** Hours before the forecast end of the budget. */
  readonly budget_end_hours: number;
}

/** Settings as they are stored. A setting that the owner has not changed is absent. */
export type KeptAlertSettings = Partial<AlertSettings>;

const RATE_MIN = alertLimits.rate_atomic_min;
const FACTORS = `${alertLimits.burn_factor_min} to ${alertLimits.burn_factor_max}`;
const HOURS_AHEAD = `1 to ${alertLimits.budget_end_ahead_hours_max}`;
const PERCENTS = `must be up to ${alertLimits.thresholds_max} different whole numbers from 1 to ${alertLimits.threshold_percent_max}, or null`;
const FACTOR = `must be a whole number from ${FACTORS}, or null`;
const HOURS = `must be a whole number from ${HOURS_AHEAD}, or null`;

const percents = z
  .array(
    z.int({ error: PERCENTS }).min(1, { error: PERCENTS }).max(alertLimits.threshold_percent_max, { error: PERCENTS }),
    { error: PERCENTS },
  )
  .max(alertLimits.thresholds_max, { error: PERCENTS })
  .refine(list => new Set(list).size === list.length, { error: PERCENTS })
  .transform(list => list.toSorted((one, other) => one - other));

const whole = (min: number, max: number, error: string) => z.int({ error }).min(min, { error }).max(max, { error });

/** Each setting with its default, its validation and its description. */
export const alertSettings = {
  thresholds_percent: {
    usual: [50, 80, 100],
    value: percents,
    description: `Percentages of a cap or of the budget at which the book sends an alert: up to ${alertLimits.thresholds_max} different whole numbers from 1 to ${alertLimits.threshold_percent_max}. An empty list sends none.`,
  },
  burn_factor: {
    usual: 4,
    value: whole(alertLimits.burn_factor_min, alertLimits.burn_factor_max, FACTOR),
    description: `Factor, ${FACTORS}: an alert is sent if the amount spent in the last 60 minutes reaches this factor times what the book usually spends in an hour (a 24th of its median day). None is sent below ${RATE_MIN} atomic USDC an hour, or if fewer than ${alertLimits.habit_days_min} of the last ${alertLimits.habit_days_max} days had spending.`,
  },
  budget_end_hours: {
    usual: 24,
    value: whole(1, alertLimits.budget_end_ahead_hours_max, HOURS),
    description: `Number of hours, ${HOURS_AHEAD}: an alert is sent if the budget, at the rate of the last hour, ends within this time. None is sent if less than ${RATE_MIN} atomic USDC was spent in that hour.`,
  },
} as const satisfies {
  readonly [K in keyof AlertSettings]: {
    readonly usual: AlertSettings[K];
    readonly value: z.ZodType<AlertSettings[K]>;
    readonly description: string;
  };
};

export function settingsInForce(kept: KeptAlertSettings): AlertSettings {
  return {
    thresholds_percent: kept.thresholds_percent ?? alertSettings.thresholds_percent.usual,
    burn_factor: kept.burn_factor ?? alertSettings.burn_factor.usual,
    budget_end_hours: kept.budget_end_hours ?? alertSettings.budget_end_hours.usual,
  };
}

/** An alert about the spending of a book. It is recorded as an event of the book. */
export const AlertNoun = z.object({
  position: z.int().describe('Position of the alert among the events of the book, from 1.'),
  alert: word(alertKinds).describe('What the alert reports: `threshold`, `burn` or `budget_end`.'),
  ceiling: word(alertCeilings).optional().describe('Cap or budget that the alert is about. Null or absent for `burn`.'),
  percent: z
    .int()
    .optional()
    .describe('Percentage of the cap or budget that was reached. Null or absent unless `alert` is `threshold`.'),
  spent_atomic: AtomicMember.optional().describe(
    'Amount counted under the cap or budget, including this row, in atomic USDC: amounts that were collected, and amounts of rows with evidence RECORDED_BY_SETTLE, whose collection is still awaited. Null or absent for `burn`.',
  ),
  cap_atomic: AtomicMember.optional().describe(
    'Amount of the cap or budget when the alert was recorded, in atomic USDC. Null or absent for `burn`.',
  ),
  rate_atomic: AtomicMember.optional().describe(
    'Estimate of the amount spent in the last 60 minutes, in atomic USDC: this clock hour, and a share of the one before. Null or absent for `threshold`.',
  ),
  habit_atomic: AtomicMember.optional().describe(
    'What the book usually spends in an hour, in atomic USDC: a 24th of its median day. Null or absent unless `alert` is `burn`.',
  ),
  factor: z
    .int()
    .optional()
    .describe(
      'Factor by which `habit_atomic` was multiplied for the comparison. Null or absent unless `alert` is `burn`.',
    ),
  period_start: TimeMember.optional().describe(
    'Start of the hour or day in which the alert is sent once (RFC 3339, UTC). Null or absent for a `threshold` of the budget, which is sent once until the budget is set again.',
  ),
  budget_ends_at: TimeMember.optional().describe(
    'Start of the clock hour in which the budget ends at the rate of the last hour (RFC 3339, UTC). Null or absent unless `alert` is `budget_end`.',
  ),
  seq: z.int().describe('The seq of the row that caused the alert.'),
  task_id: z.string().describe('Task id of the row that caused the alert.'),
  at: TimeMember.describe('Time the alert was recorded (RFC 3339, UTC).'),
});

const { thresholds_percent, burn_factor, budget_end_hours } = alertSettings;
export const AlertThresholdsNoun = z.object({
  thresholds_percent: sizedList(z.int(), alertLimits.thresholds_max).describe(thresholds_percent.description),
  burn_factor: z.int().describe(burn_factor.description),
  budget_end_hours: z.int().describe(budget_end_hours.description),
});

/** Members that say who changed a setting of a book. */
export const changerMembers = {
  by: wordText(proofMethods)
    .nullable()
    .describe('How the caller that made the change opened the book. Null if that is not known.'),
  session: z
    .string()
    .nullable()
    .describe('Session that made the change: first 16 hex digits of its SHA-256. Null if that is not known.'),
} as const;

/** A change of the settings: an event of the book. */
export const AlertsChangedNoun = z.object({
  position: z.int().describe('Position of the change among the events of the book, from 1.'),
  before: AlertThresholdsNoun.describe('Settings before the change.'),
  after: AlertThresholdsNoun.describe('Settings after the change.'),
  at: TimeMember.describe('Time of the change (RFC 3339, UTC).'),
  ...changerMembers,
});

export const AlertSettingsNoun = z.object({
  agent_id: z.int().describe('Id of the agent of the book.'),
  ...AlertThresholdsNoun.shape,
  changes: sizedList(AlertsChangedNoun, alertLimits.changes_shown_max).describe(
    `Changes by the owner: the newest ${alertLimits.changes_shown_max}, newest first.`,
  ),
  changes_truncated: z
    .boolean()
    .describe(
      `True if there are older changes than the ${alertLimits.changes_shown_max} shown. Each change is also an event of the book.`,
    ),
});
