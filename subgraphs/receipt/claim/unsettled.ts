import type { Tx } from '../../database.ts';
import type { Lease } from './claim.ts';

/** Which of these claims are not settling yet; all of them are locked, in the order of their keys, before anything else is. */
export async function lockUnsettled(tx: Tx, leases: readonly Lease[]): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<{ claim_key: string; state: string }>({
    name: 'lock unsettled claims',
    text: 'select claim_key, state from payment_claim where claim_key = any($1) order by claim_key for update',
    values: [leases.map(({ claim_key }) => claim_key)],
  });
  return new Set(rows.flatMap(({ claim_key, state }) => (state === 'claimed' ? [claim_key] : [])));
}
