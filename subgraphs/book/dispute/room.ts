import type { DisputeClaim } from '../../../schema/dispute/claim.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { disputeLimits } from '../../../schema/limits.ts';
import type { Tx } from '../../database.ts';
import { requireHourRoom } from '../ledger/hour-room.ts';

const { per_claim_max, filed_per_book_hour_max: max } = disputeLimits;

/**
 * Nobody pays for a dispute, and each is kept for ever: one claim of one row is filed with a few kinds of evidence, and one
 * book files so many within an hour. Under the head's lock. @throws disputes_full, rate_limited
 */
export async function requireDisputeRoom(
  tx: Tx,
  agent_id: AgentId,
  { task_id, claim_type }: Pick<DisputeClaim, 'task_id' | 'claim_type'>,
): Promise<void> {
  const { rows } = await tx.query<{ of_claim: number }>({
    name: 'disputes of claim',
    text: `select count(*)::int as of_claim from dispute where agent_id = $1 and task_id = $2 and claim_type = $3`,
    values: [agent_id, task_id, claim_type],
  });
  if ((rows[0]?.of_claim ?? 0) >= per_claim_max) throw new Refusal('disputes_full');
  await requireHourRoom(tx, agent_id, {
    name: 'dispute room',
    at: 'filed_at',
    from: 'dispute where agent_id = $1',
    newest: 'filed_at',
    max,
    detail: `A book files ${max} disputes in an hour.`,
  });
}
