import { Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import {
  type AlertSettings,
  AlertSettingsNoun,
  AlertsChangedNoun,
  AlertThresholdsNoun,
  type KeptAlertSettings,
  settingsInForce,
} from '../../../schema/book-alerts.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { alertLimits } from '../../../schema/limits.ts';
import type { ProvenBy } from '../../../schema/principal.ts';
import { AlertsRequest, requireChange } from '../../../schema/requests/alerts.ts';
import { BookPath } from '../../../schema/requests/book-path.ts';
import { requireHeld, requirePossession } from '../../access.ts';
import { type ArgumentsOfBook, argumentsType, objectType, readRequest } from '../../graph-type.ts';
import type { BookContext } from '../context.ts';
import { setAlerts } from '../ledger/alert-settings.ts';
import { soundHead } from '../page/page.ts';

export const AlertThresholds = objectType(
  'AlertThresholds',
  'Thresholds at which a book sends alerts.',
  AlertThresholdsNoun,
);
type AlertThresholds = InstanceType<typeof AlertThresholds>;
export const AlertsChanged = objectType(
  'AlertsChanged',
  'A change of the alert settings of a book. It is an event of the book.',
  AlertsChangedNoun,
);
type AlertsChanged = InstanceType<typeof AlertsChanged>;
export const ShownAlertSettings = objectType(
  'BookAlertSettings',
  'Thresholds at which a book sends alerts, and the changes that its owner made to them.',
  AlertSettingsNoun,
);
type ShownAlertSettings = InstanceType<typeof ShownAlertSettings>;

function shownThresholds({ thresholds_percent, burn_factor, budget_end_hours }: AlertSettings): AlertThresholds {
  return { thresholdsPercent: thresholds_percent, burnFactor: burn_factor, budgetEndHours: budget_end_hours };
}

/** The members of an `alerts_changed` event that are shown. */
interface AlertsChangedEvent {
  readonly position: number;
  readonly at: Date;
  readonly body: JsonObject;
}

function shownAlertsChanged({ position, at, body }: AlertsChangedEvent): AlertsChanged {
  const { before, after, by } = body as unknown as {
    readonly before: AlertSettings;
    readonly after: AlertSettings;
    readonly by: { readonly by: ProvenBy['by']; readonly session: string } | null;
  };
  const whose = { by: by?.by ?? null, session: by?.session ?? null };
  return { position, before: shownThresholds(before), after: shownThresholds(after), at, ...whose };
}

const BookArguments = argumentsType(BookPath);
const ChangeArguments = argumentsType(BookPath, AlertsRequest);

const CHANGES = `select position, at, body from book_event where agent_id = $1 and kind = 'alerts_changed'
  order by position desc limit ${alertLimits.changes_shown_max + 1}`;

@Resolver(() => ShownAlertSettings)
export class BookAlertsResolver {
  @Query(() => ShownAlertSettings, {
    nullable: true,
    description: 'Alert settings of a book. Requires possession of the book. Null if there is an error.',
  })
  async alertSettings(
    @Args(() => BookArguments) { agentId }: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<ShownAlertSettings> {
    const agent_id = requirePossession(context.principal, agentId);
    const head = await soundHead(context.database, agent_id);
    return shown(context, agent_id, head?.alertSettings ?? null);
  }

  @Mutation(() => ShownAlertSettings, {
    nullable: true,
    description:
      'Changes the alert settings of a book, and returns all of them. A setting that is sent as null gets its default; one that is left out is unchanged. At least one is required. Requires possession of the book. Null if there is an error.',
  })
  async setAlerts(
    @Args(() => ChangeArguments) args: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<ShownAlertSettings> {
    const held = requireHeld(context.principal, args.agentId);
    const { agent_id } = held;
    const change = requireChange(readRequest(AlertsRequest, args, context));
    return shown(context, agent_id, await setAlerts(context.database, agent_id, held, change));
  }
}

async function shown(
  { database }: BookContext,
  agent_id: AgentId,
  kept: KeptAlertSettings | null,
): Promise<ShownAlertSettings> {
  if (kept === null) throw new Refusal('forbidden');
  const changes = await database.query<AlertsChangedEvent & Record<string, unknown>>({
    name: 'alerts changed',
    text: CHANGES,
    values: [agent_id],
  });
  const shown = changes.slice(0, alertLimits.changes_shown_max).map(shownAlertsChanged);
  const changesTruncated = shown.length < changes.length;
  return { agentId: agent_id, ...shownThresholds(settingsInForce(kept)), changes: shown, changesTruncated };
}
