import type { Database } from '../../database.ts';
import type { DelegatedCall } from './delegated-call.entity.ts';
import type { Delegation } from './delegation.entity.ts';

/** SQL condition for calls of session $1 and of every session below it. */
const SUBTREE = `delegation_hash in (select delegation_hash from delegation where path ? $1)`;

/** Task id in the resource `receipt/<task_id>`. Null for another resource. */
export function receiptNamed(resource: string): string | null {
  return /^receipt\/(task_[0-9a-z]{26})$/.exec(resource)?.[1] ?? null;
}

/** A call recorded under this session or a session below it. Null if the task is not such a call. */
export async function ownCall(
  database: Pick<Database, 'query'>,
  { delegationHash }: Delegation,
  task_id: string,
): Promise<DelegatedCall | null> {
  const [row] = await database.query<DelegatedCall & Record<string, unknown>>({
    name: 'own call',
    text: `select task_id as "taskId", delegation_hash as "delegationHash", agent_id as "agentId",
        amount_atomic as "amountAtomic" from delegated_call where task_id = $2 and ${SUBTREE}`,
    values: [delegationHash, task_id],
  });
  return row ?? null;
}

/** The newest calls under this session and the sessions below it that have rows on books. Task ids sort by time. */
export async function ownRows(
  database: Pick<Database, 'query'>,
  { delegationHash }: Delegation,
  { limit, before }: { readonly limit: number; readonly before: string | null },
): Promise<readonly { readonly task_id: string; readonly agent_id: number }[]> {
  return database.query({
    name: before === null ? 'newest own rows' : 'own rows',
    text: `select task_id, agent_id from delegated_call where agent_id is not null and ${SUBTREE}
      ${before === null ? '' : 'and task_id < $3'} order by task_id desc limit $2`,
    values: [delegationHash, limit, ...(before === null ? [] : [before])],
  });
}
