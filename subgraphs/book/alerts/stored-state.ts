import { z } from 'zod';
import { alertSettings, type KeptAlertSettings } from '../../../schema/book-alerts.ts';
import type { AlertState } from './state.ts';

/*
 * Reads the alert state on the head of a book, under its lock. No hash covers this state and no audit checks it. An unreadable state
 * counts as empty, so that a payment can still be recorded.
 */

const Atomic = z.string().regex(/^\d{1,78}$/);

const State = z.object({
  told: z.record(z.string(), z.object({ since: z.string().nullable(), percents: z.array(z.number()) })).optional(),
  hour_before: z.object({ start: z.string(), atomic: Atomic }).optional(),
  habit: z.object({ day: z.string(), days: z.number(), median_atomic: Atomic }).optional(),
}) satisfies z.ZodType<AlertState>;

const Settings = z.object({
  thresholds_percent: alertSettings.thresholds_percent.value.optional(),
  burn_factor: alertSettings.burn_factor.value.optional(),
  budget_end_hours: alertSettings.budget_end_hours.value.optional(),
});

export function storedAlerts(stored: { readonly alert_state: unknown; readonly alert_settings: unknown }): {
  readonly alert_state: AlertState;
  readonly alert_settings: KeptAlertSettings;
} {
  const { alert_state, alert_settings } = stored;
  return {
    alert_state: State.safeParse(alert_state).success ? (alert_state as AlertState) : {},
    alert_settings: Settings.safeParse(alert_settings).success ? (alert_settings as KeptAlertSettings) : {},
  };
}
