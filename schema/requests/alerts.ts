import type { z } from 'zod';
import { type AlertSettings, alertSettings } from '../book-alerts.ts';
import { Refusal } from '../errors.ts';
import { PossessionMembers } from './possession.ts';

const { thresholds_percent, burn_factor, budget_end_hours } = alertSettings;

/** Changes to the alert settings of a book: null restores the default, an absent member stays as it is. */
export type AlertsChange = { readonly [K in keyof AlertSettings]?: AlertSettings[K] | null | undefined };

interface Setting<S extends z.ZodType> {
  readonly usual: number | readonly number[];
  readonly value: S;
  readonly description: string;
}

const changeOf = <S extends z.ZodType>({ usual, value, description }: Setting<S>) =>
  value
    .nullable()
    .optional()
    .describe(`${description} Null restores the default (${[usual].flat().join(', ')}); left out, it stays as it is.`);

/** Body of POST /v1/agents/{agent_id}/book/alerts. Possession is checked before the body is parsed. */
export const AlertsRequest = PossessionMembers.extend({
  thresholds_percent: changeOf(thresholds_percent),
  burn_factor: changeOf(burn_factor),
  budget_end_hours: changeOf(budget_end_hours),
}).strict();

/** @throws Refusal invalid_request if nothing is to be changed */
export function requireChange(change: AlertsChange): AlertsChange {
  if (Object.values(change).some(value => value !== undefined)) return change;
  throw new Refusal('invalid_request', { detail: `One of ${Object.keys(alertSettings).join(', ')} is required.` });
}
