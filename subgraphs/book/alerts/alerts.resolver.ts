import { Arg, Ctx, Int, Mutation, Query, Resolver } from 'type-graphql';
import { type KeptAlertSettings, settingsInForce } from '../../../schema/book-alerts.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { alertLimits } from '../../../schema/limits.ts';
import { parseAlerts } from '../../../schema/requests/alerts.ts';
import { requireHeld, requirePossession } from '../../access.ts';
import type { BookContext } from '../context.ts';
import { setAlerts } from '../ledger/alert-settings.ts';
import { soundHead } from '../page/page.ts';
import { type AlertsChangedEvent, ShownAlertSettings, shownAlertsChanged, shownThresholds } from './settings.type.ts';

const CHANGES = `select position, at, body from book_event where agent_id = $1 and kind = 'alerts_changed'
  order by position desc limit ${alertLimits.changes_shown_max + 1}`;

@Resolver(() => ShownAlertSettings)
export class BookAlertsResolver {
  @Query(() => ShownAlertSettings, {
    nullable: true,
    description: 'What the book alerts of, for whoever possesses it.',
  })
  async alertSettings(
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
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
    @Arg('agentId', () => Int, { description: 'Whose book.' }) agentId: number,
    @Arg('thresholdsPercent', () => [Int], {
      nullable: true,
      description: `Up to ${alertLimits.thresholds_max} different percents from 1 to 100; none: nothing is told of caps and budget.`,
    })
    thresholdsPercent: number[] | null | undefined,
    @Arg('burnFactor', () => Int, { nullable: true, description: '2 to 1000.' })
    burnFactor: number | null | undefined,
    @Arg('budgetEndHours', () => Int, { nullable: true, description: '1 to 720.' })
    budgetEndHours: number | null | undefined,
    @Ctx() context: BookContext,
  ): Promise<ShownAlertSettings> {
    const held = requireHeld(context.principal, agentId);
    const { agent_id } = held;
    const change = parseAlerts({
      thresholds_percent: thresholdsPercent,
      burn_factor: burnFactor,
      budget_end_hours: budgetEndHours,
    });
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
