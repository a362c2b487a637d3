import type { AgentId } from '../../../schema/ids.ts';
import type { BookPolicy, PolicyChange } from '../../../schema/requests/policy.ts';
import type { Database } from '../../database.ts';

/**
 * Sets one member of a book's policy, or clears it; the policy as it then stands, null where there is no such book. In
 * force for every reservation that begins after this returns: the head's row lock puts both in order.
 */
export async function setPolicy(
  database: Database,
  agent_id: AgentId,
  { policy_type, value }: PolicyChange,
): Promise<BookPolicy | null> {
  const [book] = await database.query<{ policy: BookPolicy }>({
    name: 'set policy',
    text: `update book set policy = case when $3::jsonb = 'null' then policy - $2::text
        else policy || jsonb_build_object($2::text, $3::jsonb) end, policy_version = policy_version + 1
      where agent_id = $1 returning policy`,
    values: [agent_id, policy_type, JSON.stringify(value)],
  });
  return book?.policy ?? null;
}
