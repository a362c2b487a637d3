import type { RefusalId } from '../../../schema/ids.ts';
import type { Tx } from '../../database.ts';
import { dropSlots } from './claim.ts';

export interface BlockedClaim {
  readonly claim_key: string;
  readonly refusal_id: RefusalId;
}

/**
 * Lets go of claims that their book refused, in the transaction that made them: nothing is held for them, and the
 * payment may serve another request.
 */
export function blockClaims(tx: Tx, blocked: readonly BlockedClaim[]): void {
  if (blocked.length === 0) return;
  tx.write({
    name: 'block claims',
    text: `update payment_claim c set state = 'released', lease_owner = null, reason = 'blocked', reserved_atomic = 0,
        refusal_id = n.refusal_id, moved_at = now()
      from jsonb_populate_recordset(null::payment_claim, $1::jsonb) n where c.claim_key = n.claim_key`,
    values: [JSON.stringify(blocked)],
  });
  dropSlots(
    tx,
    blocked.map(({ claim_key }) => claim_key),
  );
}
