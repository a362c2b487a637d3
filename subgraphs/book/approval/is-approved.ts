import type { RefusalId } from '../../../schema/ids.ts';
import type { Database } from '../../database.ts';
import { TAKEN, TTL_SECONDS } from './columns.ts';

interface RefusedPayment {
  readonly agent_id: number | null;
  readonly request_hash: string;
  readonly payer: string;
  readonly reserved_atomic: bigint;
  readonly task_id: string;
}

/**
 * Whether a person has approved the payment since its book refused it. A resend gets the first refusal again, and is judged again
 * only if this is true. A call that was refused just now under the same task was already judged with all approvals, and an approval
 * does not change a refusal by another policy. This takes no lock, because `reserve` decides under the lock of the head. The session
 * is not compared, because the hash of the request covers it.
 */
export async function isApproved(
  database: Pick<Database, 'query'>,
  payment: RefusedPayment,
  refusal_id: RefusalId,
): Promise<boolean> {
  const { agent_id, request_hash, payer, reserved_atomic, task_id } = payment;
  if (agent_id === null) return false;
  const found = await database.query({
    name: 'approved since',
    text: `select 1 from approval_request a join book b using (agent_id)
      where agent_id = $1 and request_hash = $2 and payer = $3 and amount_atomic = $4 and decision = 'approve'
        and decided_at >= clock_timestamp() - make_interval(secs => ${TTL_SECONDS}) and not ${TAKEN}
        and exists (select from refusal where refusal_id = $5 and refusal_code = 'approval_ttl_expired' and task_id <> $6)
      limit 1`,
    values: [agent_id, request_hash, payer, reserved_atomic.toString(), refusal_id, task_id],
  });
  return found.length > 0;
}
