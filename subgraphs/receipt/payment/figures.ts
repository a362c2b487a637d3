import type { Database } from '../../database.ts';

/** What an operator wants to see of the whole service, by every process of it. */
export interface Figures {
  /** Claims that are neither recorded nor released. */
  readonly open_claims: number;
  readonly oldest_open_seconds: number;
  /** Size of the receipt log. */
  readonly leaves: number;
}

/** Costs what is open, and nothing of what has been: a partial index holds the open claims alone. */
export async function figures(database: Pick<Database, 'query'>): Promise<Figures> {
  const [row] = await database.query<{ open_claims: number; oldest_open_seconds: number; leaves: number }>({
    name: 'figures',
    text: `select count(*) as open_claims, (select tree_size from log_head) as leaves,
        coalesce(extract(epoch from now() - min(claimed_at)), 0)::float8 as oldest_open_seconds
      from payment_claim where state in ('claimed', 'settling')`,
  });
  return { open_claims: 0, oldest_open_seconds: 0, ...row, leaves: row?.leaves ?? 0 };
}
