import { z } from 'zod';
import { alertLimits } from './limits.ts';

/*
 * What a book tells its owner of before a wall is reached, and what of it may be set: the words and the bounds. When each is
 * told is subgraphs/book/alerts.
 */

export const alertKinds = ['threshold', 'burn', 'budget_end'] as const;
export type AlertKind = (typeof alertKinds)[number];

/** What is filled by what a book collects. */
export const alertCeilings = ['hourly_cap', 'daily_cap', 'budget'] as const;
export type AlertCeiling = (typeof alertCeilings)[number];

/** In force on a book. */
export interface AlertSettings {
  /** Of each ceiling, ascending. */
  readonly thresholds_percent: readonly number[];
  /** How many times its habit a book has to spend in an hour. */
  readonly burn_factor: number;
  /** How long before its end a budget is told of. */
  readonly budget_end_hours: number;
}

/** As they are kept: what is not set is not there. */
export type KeptAlertSettings = Partial<AlertSettings>;

const PERCENTS = `is up to ${alertLimits.thresholds_max} different whole numbers from 1 to 100, or null`;
const FACTOR = 'is a whole number from 2 to 1000, or null';
const HOURS = 'is a whole number from 1 to 720, or null';

const percents = z
  .array(z.int({ error: PERCENTS }).min(1, { error: PERCENTS }).max(100, { error: PERCENTS }), { error: PERCENTS })
  .max(alertLimits.thresholds_max, { error: PERCENTS })
  .refine(list => new Set(list).size === list.length, { error: PERCENTS })
  .transform(list => list.toSorted((one, other) => one - other));

const whole = (min: number, max: number, error: string) => z.int({ error }).min(min, { error }).max(max, { error });

/** What may be set, with what is in force where it is not. */
export const alertSettings = {
  thresholds_percent: {
    usual: [50, 80, 100],
    value: percents,
    description: 'At which percents of a cap or of the budget a book tells; none: at none.',
  },
  burn_factor: {
    usual: 4,
    value: whole(2, 1000, FACTOR),
    description: 'How many times what it is used to a book has to spend in an hour until it tells.',
  },
  budget_end_hours: {
    usual: 24,
    value: whole(1, 720, HOURS),
    description: 'In how many hours, at the rate of the last one, the budget has to end until the book tells.',
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
