import type { NetworkName } from '../../../schema/network.ts';
import type { Database } from '../../database.ts';

/* Counts of open claims and unfinished payments, for operators. */

/** Figures about the whole service for operators, the same from each of its processes. */
interface Figures {
  /** Number of claims that are claimed or settling. */
  readonly open_claims: number;
  readonly oldest_open_seconds: number;
  /** Number of leaves of the receipt log. */
  readonly leaves: number;
  /**
   * Fees of settlements since midnight UTC, in atomic USDC. It is not a bigint because a gauge shows it and no money is computed with it.
   */
  readonly fee_day_atomic: number;
  /** Number of payments in the settlements since midnight UTC. */
  readonly fee_day_authorizations: number;
}

const none: Figures = {
  open_claims: 0,
  oldest_open_seconds: 0,
  leaves: 0,
  fee_day_atomic: 0,
  fee_day_authorizations: 0,
};

/** Reads the figures. The cost grows with the number of open claims only, because a partial index contains no others. */
export async function figures(database: Pick<Database, 'query'>): Promise<Figures> {
  const [row] = await database.query<{ [K in keyof Figures]: Figures[K] | null }>({
    name: 'figures',
    text: `select count(*) as open_claims, (select tree_size from log_head) as leaves,
        coalesce(extract(epoch from now() - min(claimed_at)), 0)::float8 as oldest_open_seconds,
        (select fee_atomic::float8 from settlement_fee_day where day = (now() at time zone 'utc')::date) as fee_day_atomic,
        (select authorizations from settlement_fee_day where day = (now() at time zone 'utc')::date)
          as fee_day_authorizations
      from payment_claim where state in ('claimed', 'settling')`,
  });
  const seen = Object.entries(row ?? {}).filter(([, value]) => value !== null);
  return { ...none, ...Object.fromEntries(seen) };
}

/** Number of payments on one network that must still be checked on the chain. */
interface Unfinished {
  readonly network: NetworkName;
  readonly payments: number;
}

/**
 * Counts payments that are claimed, settling, or recorded before their transfer was seen, by network. Partial indexes contain only such
 * rows, so closed payments cost nothing.
 */
export function readUnfinished(database: Pick<Database, 'query'>): Promise<readonly Unfinished[]> {
  return database.query<Unfinished>({
    text: `select network, count(*)::int as payments from (
        select network from payment_claim where state in ('claimed', 'settling')
        union all select network from payment_claim where arrival = 'pending') open
      group by network order by network`,
  });
}
