import type { AtomicAmount } from '../../../schema/amount.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Database } from '../../database.ts';
import { setTerms } from '../ledger/terms.ts';

/** Sets budget Y; null clears it. In force for every reservation that begins after this returns. */
export async function setBudget(database: Database, agent_id: AgentId, budget: AtomicAmount | null): Promise<void> {
  await setTerms(database, agent_id, terms => ({ ...terms, budget_atomic: budget }));
}
