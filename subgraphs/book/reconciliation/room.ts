import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { reconciliationLimits } from '../../../schema/limits.ts';
import type { Tx } from '../../database.ts';

const { per_agent_day_max, kept_per_agent_max, abandoned_seconds } = reconciliationLimits;

interface Room {
  readonly running: string | null;
  readonly recent: number;
  /** Until the oldest of a day is as old as that. */
  readonly seconds: number | null;
}

/**
 * Nobody pays for a reconciliation: one of an agent at a time, so many a day, and so many are kept. Under the head's lock,
 * so that no two take the last place. @throws reconciliation_running, rate_limited
 */
export async function requireReconciliationRoom(tx: Tx, agent_id: AgentId): Promise<void> {
  tx.write({
    name: 'end abandoned reconciliation',
    text: `with abandoned as (
        update reconciliation set state = 'failed', reason = 'interrupted', ended_at = clock_timestamp()
        where agent_id = $1 and state = 'running' and moved_at < statement_timestamp() - make_interval(secs => $2)
        returning report_id)
      delete from reconciliation_transfer where report_id in (select report_id from abandoned)`,
    values: [agent_id, abandoned_seconds],
  });
  const day = `asked_at > statement_timestamp() - interval '1 day'`;
  const { rows } = await tx.query<Room>({
    name: 'room for reconciliation',
    text: `select max(report_id) filter (where state = 'running') as running, count(*) filter (where ${day})::int as recent,
        ceil(extract(epoch from min(asked_at) filter (where ${day}) + interval '1 day' - clock_timestamp()))::int as seconds
      from reconciliation where agent_id = $1`,
    values: [agent_id],
  });
  const { running = null, recent = 0, seconds = null } = rows[0] ?? {};
  if (running !== null) throw new Refusal('reconciliation_running', { facts: { report_id: running } });
  if (recent >= per_agent_day_max)
    throw new Refusal('rate_limited', {
      detail: `An agent asks for ${per_agent_day_max} reconciliations in a day.`,
      facts: { retry_after_seconds: Math.max(1, seconds ?? 1) },
    });
  tx.write({
    name: 'drop old reconciliations',
    text: `delete from reconciliation where report_id in (
      select report_id from reconciliation where agent_id = $1 order by asked_at desc offset $2)`,
    values: [agent_id, kept_per_agent_max - 1],
  });
}
