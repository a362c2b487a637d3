import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { TaskId } from '../../../schema/ids.ts';
import type { NetworkName } from '../../../schema/network.ts';
import type { Database, Tx } from '../../database.ts';
import type { ClaimState } from './claim.machine.ts';

/*
 * Doubted payments. They were recorded or held when their settlement was seen in a block, but the finalized chain has the settlement in
 * another block or in none. While they are valid, this service or others may send them again; after that their outcome is known. Until then
 * no second payment is accepted for a doubted payment that is held.
 */

/**
 * Doubts the recorded and held payments of a settlement, in the transaction that changes the settlement's state, so that none is missed.
 */
export function doubtPayments(tx: Tx, settlement_id: string): void {
  tx.write({
    name: 'doubt payments',
    text: `insert into doubted_payment (claim_key, network, doubted_at, looked_at)
      select claim_key, network, now(), to_timestamp(0) from payment_claim
      where settlement_id = $1 and state in ('recorded', 'held') order by claim_key on conflict do nothing`,
    values: [settlement_id],
  });
}

/** Doubts a held payment that was just not found on the chain, whichever process settled it. */
export async function doubtHeld(database: Pick<Database, 'query'>, claim_key: string): Promise<void> {
  await database.query({
    name: 'doubt held payment',
    text: `insert into doubted_payment (claim_key, network, doubted_at, looked_at)
      select claim_key, network, now(), to_timestamp(0) from payment_claim where claim_key = $1 and state = 'held'
      on conflict do nothing`,
    values: [claim_key],
  });
}

/**
 * `doubted`: the settlement was not found where it had been seen. `final`: the settlement is in the block in which it was seen, and that
 * block cannot be replaced. `seen`: it is unknown which of the two is true.
 */
type Certainty = 'doubted' | 'final' | 'seen';

export async function certaintyOf(database: Pick<Database, 'query'>, claim_key: string): Promise<Certainty> {
  const [row] = await database.query<{ certainty: Certainty }>({
    name: 'certainty of payment',
    text: `select case
        when exists (select from doubted_payment where claim_key = $1) then 'doubted'
        when exists (select from payment_claim c join settlement s using (settlement_id)
          where c.claim_key = $1 and s.state = 'final') then 'final'
        else 'seen' end as certainty`,
    values: [claim_key],
  });
  return row?.certainty ?? 'seen';
}

export interface DoubtedClaim {
  readonly claim_key: string;
  readonly task_id: string;
  readonly state: ClaimState;
  readonly network: NetworkName;
  readonly authorization: JsonObject;
  readonly settlement_id: string | null;
  readonly from_block: number | null;
  readonly claimed_at: Date;
}

/**
 * Takes doubted payments that are due for a check: after 5 seconds at first, later after a pause that grows with their age, up to 10
 * minutes.
 */
export async function takeDoubted(
  database: Pick<Database, 'query'>,
  count_max: number,
): Promise<readonly DoubtedClaim[]> {
  return database.query<DoubtedClaim & Record<string, unknown>>({
    name: 'take doubted payments',
    text: `with taken as (
        update doubted_payment set looked_at = now() where claim_key in (
          select claim_key from doubted_payment
          where looked_at < now() - greatest(interval '5 seconds',
            least(interval '10 minutes', (now() - doubted_at) / 4))
          order by looked_at limit $1 for update skip locked)
        returning claim_key)
      select claim_key, task_id, state, network, "authorization", settlement_id, from_block, claimed_at
      from taken join payment_claim using (claim_key)`,
    values: [count_max],
  });
}

/** Ends the doubt about a payment whose outcome is known. False if another process has ended it before. */
export async function endDoubt(tx: Tx, claim_key: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'end doubt',
    text: 'delete from doubted_payment where claim_key = $1',
    values: [claim_key],
  });
  return rowCount === 1;
}

/**
 * Marks payments that are recorded on a facilitator's statement alone, so that their transfers are searched for. It runs in the transaction
 * that records the payments.
 */
export function awaitArrivals(tx: Tx, claim_keys: readonly string[]): void {
  if (claim_keys.length === 0) return;
  tx.write({
    name: 'await arrivals',
    text: `update payment_claim set arrival = 'pending', looked_at = null where claim_key = any($1)`,
    values: [claim_keys],
  });
}

/** A recorded payment whose transfer has not been seen yet. */
export interface AwaitedArrival {
  readonly claim_key: string;
  readonly task_id: TaskId;
  readonly authorization: JsonObject;
  readonly from_block: number;
  readonly settlement_id: string | null;
  readonly claimed_at: Date;
  /** Whether `cutoff_seconds` have passed since the payment expired, by the database's clock. */
  readonly past_cutoff: boolean;
}

/** A transfer that was seen after its receipt had been signed on a facilitator's statement. */
export interface SeenArrival {
  readonly task_id: string;
  readonly payment_ref: string;
  /** Index of the transfer in its transaction. Null if it is unknown which transfer of the transaction it was. */
  readonly transfer_index: number | null;
}

/**
 * Takes payments for whose transfers a search is due: after a second at first, later after a pause that grows with their age, up to a
 * minute.
 */
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

/** Compare-and-set pending → confirmed or unverified. False if another process has closed it before. */
export async function closeArrival(tx: Tx, claim_key: string, arrival: 'confirmed' | 'unverified'): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'close arrival',
    text: `update payment_claim set arrival = $2 where claim_key = $1 and arrival = 'pending'`,
    values: [claim_key, arrival],
  });
  return rowCount === 1;
}
