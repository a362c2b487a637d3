import type { AtomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { BookPolicy } from '../../../schema/policy-kinds.ts';
import type { PolicyChange } from '../../../schema/requests/policy.ts';
import type { Database } from '../../database.ts';
import { type ChangedBy, setTerms } from '../ledger/terms.ts';

/**
 * Sets one member of a book's policy, or clears it; the policy as it then stands, null where there is no such book. In
 * force for every reservation that begins after this returns: the head's row lock puts both in order.
 */
export async function setPolicy(
  database: Database,
  agent_id: AgentId,
  { policy_type, value }: PolicyChange,
  by: ChangedBy = null,
): Promise<BookPolicy | null> {
  const terms = await setTerms(database, agent_id, by, ({ budget_atomic, policy: standing }) => {
    const { [policy_type]: before = null, ...others } = standing;
    const policy = value === null ? others : { ...others, [policy_type]: value };
    const body = { policy_type, before, after: value, policy } as JsonObject;
    return { budget_atomic, policy, told: { kind: 'policy_changed', body } };
  });
  return terms?.policy ?? null;
}

/** Sets budget Y; null clears it. In force for every reservation that begins after this returns. */
export async function setBudget(
  database: Database,
  agent_id: AgentId,
  budget: AtomicAmount | null,
  by: ChangedBy = null,
): Promise<void> {
  await setTerms(database, agent_id, by, ({ budget_atomic, policy }) => {
    const body = { before: budget_atomic?.toString() ?? null, after: budget?.toString() ?? null };
    return { budget_atomic: budget, policy, told: { kind: 'budget_changed', body } };
  });
}
