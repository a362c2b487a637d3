import type { AtomicAmount } from '../../../schema/amount.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Database } from '../../database.ts';

/** Sets budget Y; null clears it. In force for every reservation that begins after this returns. */
export async function setBudget(database: Database, agent_id: AgentId, budget: AtomicAmount | null): Promise<void> {
  await database.query({
    name: 'set budget',
    text: 'update book set budget_atomic = $2, policy_version = policy_version + 1 where agent_id = $1',
    values: [agent_id, budget === null ? null : budget.toString()],
  });
}
