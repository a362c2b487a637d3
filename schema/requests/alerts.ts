import { z } from 'zod';
import { type AlertSettings, alertSettings } from '../book-alerts.ts';
import { Refusal } from '../errors.ts';
import { parseRequest } from './parse.ts';
import { PossessionMembers } from './possession.ts';

const { thresholds_percent, burn_factor, budget_end_hours } = alertSettings;

/** What of its alerts an owner changes: null restores what is usual, what is left out stays. */
export type AlertsChange = { readonly [K in keyof AlertSettings]?: AlertSettings[K] | null | undefined };

const members = {
  thresholds_percent: thresholds_percent.value.nullable().optional().describe(thresholds_percent.description),
  burn_factor: burn_factor.value.nullable().optional().describe(burn_factor.description),
  budget_end_hours: budget_end_hours.value.nullable().optional().describe(budget_end_hours.description),
};

/** Body of POST /v1/agents/{agent_id}/book/alerts; possession in it was looked at before. */
export const AlertsRequest = PossessionMembers.extend(members).strict();

const AlertsChanged = z.object(members);

/** @throws Refusal invalid_request for a value that is out of bounds, and where nothing is to be changed */
export function parseAlerts(change: AlertsChange): AlertsChange {
  const parsed = parseRequest(AlertsChanged, change);
  if (Object.values(parsed).every(value => value === undefined))
    throw new Refusal('invalid_request', { detail: `One of ${Object.keys(members).join(', ')} is required.` });
  return parsed;
}
