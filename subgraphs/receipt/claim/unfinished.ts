import type { NetworkName } from '../../../schema/network.ts';
import type { Database } from '../../database.ts';

/** Payments on one network that the chain is still to be asked about. */
export interface Unfinished {
  readonly network: NetworkName;
  readonly payments: number;
}

/** Those that are claimed, on their way, or recorded before their money was seen. Costs what is open: indices hold both. */
export function unfinished(database: Pick<Database, 'query'>): Promise<readonly Unfinished[]> {
  return database.query<Unfinished>({
    text: `select network, count(*)::int as payments from (
        select network from payment_claim where state in ('claimed', 'settling')
        union all select network from payment_claim where arrival = 'pending') open
      group by network order by network`,
  });
}
