import type { AtomicAmount } from '../../../schema/amount.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { BookPolicy } from '../../../schema/policy-kinds.ts';
import type { PolicyChange } from '../../../schema/requests/policy.ts';
import type { Database } from '../../database.ts';
import { setTerms } from '../ledger/terms.ts';

/**
 * Sets one member of a book's policy, or clears it; the policy as it then stands, null where there is no such book. In
 * force for every reservation that begins after this returns: the head's row lock puts both in order.
 */
export async function setPolicy(
  database: Database,
  agent_id: AgentId,
  { policy_type, value }: PolicyChange,
): Promise<BookPolicy | null> {
  const terms = await setTerms(database, agent_id, ({ budget_atomic, policy }) => {
    const { [policy_type]: _, ...others } = policy;
    return { budget_atomic, policy: value === null ? others : { ...others, [policy_type]: value } };
  });
  return terms?.policy ?? null;
}

/** Sets budget Y; null clears it. In force for every reservation that begins after this returns. */
export async function setBudget(database: Database, agent_id: AgentId, budget: AtomicAmount | null): Promise<void> {
  await setTerms(database, agent_id, terms => ({ ...terms, budget_atomic: budget }));
}
