import type { Database } from '../../database.ts';
import type { ClaimRequest, Lease } from './claim.ts';

/** The lease of a claim whose commit was in doubt, found by its task, which no other claim has; null where it does not stand. */
export async function leaseOfTask(
  database: Database,
  { claim_key, lease_owner, task_id }: Pick<ClaimRequest, 'claim_key' | 'lease_owner' | 'task_id'>,
): Promise<Lease | null> {
  const [lease] = await database.query<Lease & Record<string, unknown>>({
    name: 'lease of task',
    text: `select claim_key, lease_owner, lease_epoch from payment_claim
      where claim_key = $1 and lease_owner = $2 and task_id = $3`,
    values: [claim_key, lease_owner, task_id],
  });
  return lease ?? null;
}
