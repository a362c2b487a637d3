import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { TaskId } from '../../../schema/ids.ts';
import type { Database, Tx } from '../../database.ts';

/** Payments that were recorded on a facilitator's word alone, in the transaction that records them: they are looked for. */
export function awaitArrivals(tx: Tx, claim_keys: readonly string[]): void {
  if (claim_keys.length === 0) return;
  tx.write({
    name: 'await arrivals',
    text: `update payment_claim set arrival = 'pending', looked_at = null where claim_key = any($1)`,
    values: [claim_keys],
  });
}

/** A payment whose money we have not seen yet. */
export interface AwaitedArrival {
  readonly claim_key: string;
  readonly task_id: TaskId;
  readonly authorization: JsonObject;
  readonly from_block: number;
  readonly settlement_id: string | null;
  readonly claimed_at: Date;
  /** By the database's clock. */
  readonly past_cutoff: boolean;
}

/** Money that was seen after its receipt was signed on a facilitator's word. */
export interface SeenArrival {
  readonly task_id: string;
  readonly payment_ref: string;
  /** Null where it is not known which transfer of its transaction it was. */
  readonly transfer_index: number | null;
}

/** Takes those that are to be looked for now: each second at first, then after a rest that grows with their age. */
export async function takeArrivals(
  database: Pick<Database, 'query'>,
  cutoff_seconds: number,
  count_max: number,
): Promise<AwaitedArrival[]> {
  return database.query<AwaitedArrival & Record<string, unknown>>({
    name: 'take arrivals',
    text: `update payment_claim set looked_at = now() where claim_key in (
        select claim_key from payment_claim where arrival = 'pending'
          and (looked_at is null or looked_at < now() - greatest(interval '1 second',
            least(interval '1 minute', (now() - moved_at) / 4)))
        order by looked_at nulls first limit $2 for update skip locked)
      returning claim_key, task_id, "authorization", coalesce(from_block, 0) as from_block, settlement_id, claimed_at,
        extract(epoch from now()) >= valid_before + $1 as past_cutoff`,
    values: [cutoff_seconds, count_max],
  });
}

/** Compare-and-set pending → confirmed or unverified. False where another process has said so before. */
export async function closeArrival(tx: Tx, claim_key: string, arrival: 'confirmed' | 'unverified'): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'close arrival',
    text: `update payment_claim set arrival = $2 where claim_key = $1 and arrival = 'pending'`,
    values: [claim_key, arrival],
  });
  return rowCount === 1;
}
