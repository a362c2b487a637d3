import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { inflowLimits } from '../../../schema/inflow-limits.ts';
import type { Tx } from '../../database.ts';
import { lockBook } from '../ledger/damage.ts';

/**
 * Nobody pays for an inflow, and each is a row for ever: so a book takes so many of them within an hour, corrections
 * included. Locks the head, so that no two take the last place. @throws rate_limited
 */
export async function requireRoom(tx: Tx, agent_id: AgentId): Promise<void> {
  await lockBook(tx, agent_id);
  const { rows } = await tx.query<{ seconds: number }>({
    name: 'inflow room',
    text: `select ceil(extract(epoch from collected_at + interval '1 hour' - clock_timestamp()))::int as seconds
      from book_row where agent_id = $1 and evidence = 'inflow_claimed' order by seq desc offset $2 limit 1`,
    values: [agent_id, inflowLimits.rows_per_book_hour_max - 1],
  });
  const retry_after_seconds = rows[0]?.seconds ?? 0;
  if (retry_after_seconds <= 0) return;
  const detail = `A book takes ${inflowLimits.rows_per_book_hour_max} inflows and corrections in an hour.`;
  throw new Refusal('rate_limited', { detail, facts: { retry_after_seconds } });
}
