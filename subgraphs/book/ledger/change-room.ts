import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { policyLimits } from '../../../schema/policy-limits.ts';
import type { Tx } from '../../database.ts';

/* Part of the ledger: how often an owner may set something. Each kind of change along the index of its events. */

const changes = {
  terms: `kind in ('policy_changed', 'budget_changed')`,
  alerts: `kind = 'alerts_changed'`,
} as const;

const max = policyLimits.changes_per_book_hour_max;

/**
 * Nobody pays for a change, and its event keeps all policies for ever: whoever changed them to and fro filled the disk. Under
 * the head's lock, so that no two take the last place. @throws rate_limited
 */
export async function requireChangeRoom(tx: Tx, agent_id: AgentId, what: keyof typeof changes): Promise<void> {
  const { rows } = await tx.query<{ seconds: number }>({
    name: `room for ${what}`,
    text: `select ceil(extract(epoch from at + interval '1 hour' - clock_timestamp()))::int as seconds
      from book_event where agent_id = $1 and ${changes[what]} order by position desc offset $2 limit 1`,
    values: [agent_id, max - 1],
  });
  const retry_after_seconds = rows[0]?.seconds ?? 0;
  if (retry_after_seconds <= 0) return;
  throw new Refusal('rate_limited', {
    detail: `A book takes ${max} changes of its ${what} in an hour.`,
    facts: { retry_after_seconds },
  });
}
