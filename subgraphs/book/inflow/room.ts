import type { AgentId } from '../../../schema/ids.ts';
import { inflowLimits } from '../../../schema/limits.ts';
import type { Tx } from '../../database.ts';
import { lockBook } from '../ledger/damage.ts';
import { requireHourRoom } from '../ledger/hour-room.ts';

const max = inflowLimits.rows_per_book_hour_max;

/** Nobody pays for an inflow, and each is a row for ever; corrections count. Locks the head. @throws rate_limited */
export async function requireRoom(tx: Tx, agent_id: AgentId): Promise<void> {
  await lockBook(tx, agent_id);
  await requireHourRoom(tx, agent_id, {
    name: 'inflow room',
    at: 'collected_at',
    from: `book_row where agent_id = $1 and evidence = 'inflow_claimed'`,
    newest: 'seq',
    max,
    detail: `A book takes ${max} inflows and corrections in an hour.`,
  });
}
