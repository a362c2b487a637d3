import { Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { type KeptAlertSettings, settingsInForce } from '../../../schema/book-alerts.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { alertLimits } from '../../../schema/limits.ts';
import { AlertsRequest, requireChange } from '../../../schema/requests/alerts.ts';
import { BookPath } from '../../../schema/requests/book-path.ts';
import { requireHeld, requirePossession } from '../../access.ts';
import { type ArgumentsOfBook, argumentsType, readRequest } from '../../graph-type.ts';
import type { BookContext } from '../context.ts';
import { setAlerts } from '../ledger/alert-settings.ts';
import { soundHead } from '../page/page.ts';
import { type AlertsChangedEvent, ShownAlertSettings, shownAlertsChanged, shownThresholds } from './settings.type.ts';

const BookArguments = argumentsType(BookPath);
const ChangeArguments = argumentsType(BookPath, AlertsRequest);

const CHANGES = `select position, at, body from book_event where agent_id = $1 and kind = 'alerts_changed'
  order by position desc limit ${alertLimits.changes_shown_max + 1}`;

@Resolver(() => ShownAlertSettings)
export class BookAlertsResolver {
  @Query(() => ShownAlertSettings, {
    nullable: true,
    description: 'What the book alerts of, for whoever possesses it.',
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
      'Sets what the book alerts of, as it then stands: null restores what is usual, what is left out stays. At least one of them is given.',
  })
  async setAlerts(
    @Args(() => ChangeArguments) asked: ArgumentsOfBook,
    @Ctx() context: BookContext,
  ): Promise<ShownAlertSettings> {
    const held = requireHeld(context.principal, asked.agentId);
    const { agent_id } = held;
    const change = requireChange(readRequest(AlertsRequest, asked, context));
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
