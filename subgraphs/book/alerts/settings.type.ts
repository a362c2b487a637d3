import {
  type AlertSettings,
  AlertSettingsNoun,
  AlertsChangedNoun,
  AlertThresholdsNoun,
} from '../../../schema/book-alerts.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { ProvenBy } from '../../../schema/principal.ts';
import { objectType } from '../../graph-type.ts';

export const AlertThresholds = objectType('AlertThresholds', 'When a book sends alerts.', AlertThresholdsNoun);
export type AlertThresholds = InstanceType<typeof AlertThresholds>;
export const AlertsChanged = objectType(
  'AlertsChanged',
  'A change of when a book sends alerts: an event of the book.',
  AlertsChangedNoun,
);
export type AlertsChanged = InstanceType<typeof AlertsChanged>;
export const ShownAlertSettings = objectType(
  'BookAlertSettings',
  'When a book sends alerts, and how its owner set it.',
  AlertSettingsNoun,
);
export type ShownAlertSettings = InstanceType<typeof ShownAlertSettings>;

export function shownThresholds({ thresholds_percent, burn_factor, budget_end_hours }: AlertSettings): AlertThresholds {
  return { thresholdsPercent: thresholds_percent, burnFactor: burn_factor, budgetEndHours: budget_end_hours };
}

/** An event of the kind `alerts_changed`, by what of it is read. */
export interface AlertsChangedEvent {
  readonly position: number;
  readonly at: Date;
  readonly body: JsonObject;
}

export function shownAlertsChanged({ position, at, body }: AlertsChangedEvent): AlertsChanged {
  const { before, after, by } = body as unknown as {
    readonly before: AlertSettings;
    readonly after: AlertSettings;
    readonly by: { readonly by: ProvenBy['by']; readonly session: string } | null;
  };
  const whose = { by: by?.by ?? null, session: by?.session ?? null };
  return { position, before: shownThresholds(before), after: shownThresholds(after), at, ...whose };
}
