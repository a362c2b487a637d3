import type { NetworkName } from '../../../schema/network.ts';
import type { Database } from '../../database.ts';

/* How many claims are open, for operators. */

/** Figures about the whole service for operators, the same from each of its processes. */
interface Figures {
  /** Claims that are neither recorded nor released. */
  readonly open_claims: number;
  readonly oldest_open_seconds: number;
  /** Size of the receipt log. */
  readonly leaves: number;
  /** Fees of settlements since midnight UTC, in atomic USDC (for a gauge: no money is computed with it), and the number of payments. */
  readonly fee_day_atomic: number;
  readonly fee_day_authorizations: number;
}

const none: Figures = {
  open_claims: 0,
  oldest_open_seconds: 0,
  leaves: 0,
  fee_day_atomic: 0,
  fee_day_authorizations: 0,
};

/** Costs as much as there are open claims, however many were closed: a partial index has the open ones only. */
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

/** Payments on one network that the chain must still be checked for. */
interface Unfinished {
  readonly network: NetworkName;
  readonly payments: number;
}

/** Those that are claimed, on their way, or recorded before their money was seen. Costs what is open: indices hold both. */
export function readUnfinished(database: Pick<Database, 'query'>): Promise<readonly Unfinished[]> {
  return database.query<Unfinished>({
    text: `select network, count(*)::int as payments from (
        select network from payment_claim where state in ('claimed', 'settling')
        union all select network from payment_claim where arrival = 'pending') open
      group by network order by network`,
  });
}
