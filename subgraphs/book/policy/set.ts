import type { AtomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { BookPolicy, PolicyMode } from '../../../schema/policy-kinds.ts';
import type { PolicyChange } from '../../../schema/requests/policy.ts';
import type { Database } from '../../database.ts';
import { type BookTerms, type ChangeAuthor, setTerms, shadowMember } from '../ledger/terms.ts';

/** Policies of a book: the enforced ones and those in shadow mode. */
export type Policies = Pick<BookTerms, 'policy' | 'shadow'>;

/**
 * Sets one policy, or clears it if `value` is null. Returns all policies after the change, or null if there is no such book. The change
 * applies to every reservation that begins after this returns, because both lock the head.
 */
export async function setPolicy(
  database: Database,
  agent_id: AgentId,
  { policy_type, value, mode = 'enforce' }: PolicyChange & { readonly mode?: PolicyMode },
  by: ChangeAuthor = null,
): Promise<Policies | null> {
  return setTerms(database, agent_id, by, ({ budget_atomic, policy: enforced, shadow: shadowed }) => {
    const { [policy_type]: before = null, ...others } = mode === 'enforce' ? enforced : shadowed;
    const changed = (value === null ? others : { ...others, [policy_type]: value }) as BookPolicy;
    const [policy, shadow] = mode === 'enforce' ? [changed, shadowed] : [enforced, changed];
    const shadow_member = mode === 'shadow' ? { mode, shadow } : shadowMember(shadow);
    const body = { policy_type, before, after: value, policy, ...shadow_member } as JsonObject;
    const stops = policy_type === 'kill_switch' && value === true && mode === 'enforce';
    return { budget_atomic, policy, shadow, event: { kind: 'policy_changed', body }, stops };
  });
}

/** Sets the budget, or clears it if `budget` is null. The change applies to every reservation that begins after this returns. */
export async function setBudget(
  database: Database,
  agent_id: AgentId,
  budget: AtomicAmount | null,
  by: ChangeAuthor = null,
): Promise<void> {
  await setTerms(database, agent_id, by, ({ budget_atomic, policy, shadow }) => {
    const body = { before: budget_atomic?.toString() ?? null, after: budget?.toString() ?? null };
    return { budget_atomic: budget, policy, shadow, event: { kind: 'budget_changed', body } };
  });
}
