import { Directive, Field, Int, ObjectType } from 'type-graphql';
import { type AlertSettings, alertSettings } from '../../../schema/book-alerts.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { alertLimits } from '../../../schema/limits.ts';
import type { ProvenBy } from '../../../schema/principal.ts';
import { DateTimeScalar } from '../../../schema/scalars.ts';
import { ProofMeansWord } from '../policy/policy.type.ts';

const { thresholds_percent, burn_factor, budget_end_hours } = alertSettings;

@ObjectType({ description: 'What a book alerts of.' })
export class AlertThresholds {
  @Directive(`@listSize(assumedSize: ${alertLimits.thresholds_max})`)
  @Field(() => [Int], { description: thresholds_percent.description })
  thresholdsPercent!: readonly number[];
  @Field(() => Int, { description: burn_factor.description }) burnFactor!: number;
  @Field(() => Int, { description: budget_end_hours.description }) budgetEndHours!: number;
}

@ObjectType({ description: 'A change of what a book alerts of: an event of the book.' })
export class AlertsChanged {
  @Field(() => Int, { description: 'Its place among the events of the book.' }) position!: number;
  @Field(() => AlertThresholds, { description: 'In force before.' }) before!: AlertThresholds;
  @Field(() => AlertThresholds, { description: 'In force from then on.' }) after!: AlertThresholds;
  @Field(() => DateTimeScalar, { description: 'When.' }) at!: Date;
  @Field(() => ProofMeansWord, { nullable: true, description: 'By what whoever did it had opened the book.' })
  by!: ProvenBy['by'] | null;
  @Field(() => String, { nullable: true, description: 'Of the session behind that: SHA-256, its first 16 hex digits.' })
  session!: string | null;
}

@ObjectType('BookAlertSettings', { description: 'What a book alerts of, and how its owner set it.' })
export class ShownAlertSettings extends AlertThresholds {
  @Field(() => Int, { description: 'Whose book.' }) agentId!: number;
  @Directive(`@listSize(assumedSize: ${alertLimits.changes_shown_max})`)
  @Field(() => [AlertsChanged], { description: `The newest ${alertLimits.changes_shown_max}, newest first.` })
  changes!: AlertsChanged[];
  @Field(() => Boolean, {
    description: `True if there are older changes than the ${alertLimits.changes_shown_max} shown: each is an event of the book.`,
  })
  changesTruncated!: boolean;
}

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
