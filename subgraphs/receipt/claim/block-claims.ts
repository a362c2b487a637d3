import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { RefusalId } from '../../../schema/ids.ts';
import type { Tx } from '../../database.ts';
import { dropSlotsUnlessSent } from './slots.ts';

export interface BlockedClaim {
  readonly claim_key: string;
  readonly refusal_id: RefusalId;
}

/**
 * Undoes the claims of calls that are refused without a signed refusal, in the transaction that made the claims. A new claim is deleted; a
 * claim that existed before is released again. The same payment may be sent again and is then judged again.
 */
export function unclaim(tx: Tx, claim_keys: readonly string[]): void {
  if (claim_keys.length === 0) return;
  dropSlotsUnlessSent(tx, claim_keys);
  tx.write({
    name: 'drop new claims',
    text: `delete from payment_claim where claim_key = any($1) and lease_epoch = 0 and state = 'claimed' and from_block is null`,
    values: [claim_keys],
  });
  tx.write({
    name: 'release claims again',
    text: `update payment_claim set state = 'released', lease_owner = null, reason = 'blocked', reserved_atomic = 0, moved_at = now()
      where claim_key = any($1) and state = 'claimed'`,
    values: [claim_keys],
  });
}

/** Adds the decisions of book and session about admitted calls to the landings of their claims, in the transaction that made the claims. */
export function addToLandings(
  tx: Tx,
  claims: readonly { readonly claim_key: string; readonly landing: JsonObject }[],
): void {
  if (claims.length === 0) return;
  tx.write({
    name: 'add to landings',
    text: `update payment_claim c set landing = c.landing || n.landing
      from jsonb_populate_recordset(null::payment_claim, $1::jsonb) n where c.claim_key = n.claim_key`,
    values: [JSON.stringify(claims)],
  });
}

/** Returns those of the given claim keys that have a claim, in any state. */
export async function standingClaims(tx: Tx, claim_keys: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<{ claim_key: string }>({
    name: 'standing claims',
    text: 'select claim_key from payment_claim where claim_key = any($1)',
    values: [claim_keys],
  });
  return new Set(rows.map(row => row.claim_key));
}

/**
 * Releases claims that their book refused, in the transaction that made the claims. Nothing stays reserved for them, and the payment may be
 * used for another request.
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
  dropSlotsUnlessSent(
    tx,
    blocked.map(({ claim_key }) => claim_key),
  );
}
