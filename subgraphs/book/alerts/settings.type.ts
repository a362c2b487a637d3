import { ObjectType } from 'type-graphql';
import {
  type AlertSettings,
  AlertSettingsNoun,
  AlertsChangedNoun,
  AlertThresholdsNoun,
} from '../../../schema/book-alerts.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import type { ProvenBy } from '../../../schema/principal.ts';
import { showMembers } from '../../graph-type.ts';
import { ProofMeansWord } from '../policy/policy.type.ts';

const Thresholds = class {} as new () => MembersOf<typeof AlertThresholdsNoun>;
const Changed = class {} as new () => MembersOf<typeof AlertsChangedNoun>;
const Settings = class {} as new () => MembersOf<typeof AlertSettingsNoun>;

@ObjectType({ description: 'What a book alerts of.' })
export class AlertThresholds extends Thresholds {}

@ObjectType({ description: 'A change of what a book alerts of: an event of the book.' })
export class AlertsChanged extends Changed {}

@ObjectType('BookAlertSettings', { description: 'What a book alerts of, and how its owner set it.' })
export class ShownAlertSettings extends Settings {}

showMembers(AlertThresholds, AlertThresholdsNoun);
showMembers(AlertsChanged, AlertsChangedNoun, { before: AlertThresholds, after: AlertThresholds, by: ProofMeansWord });
showMembers(ShownAlertSettings, AlertSettingsNoun, { changes: AlertsChanged });

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
