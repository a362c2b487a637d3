import { type AtomicAmount } from '../../../schema/amount.ts';
import { routerLimits } from '../../../schema/limits.ts';
import type { Database } from '../../database.ts';

/** Verified generations of a book. */
export interface VerifiedSums {
  readonly count: number;
  /** Millionths of a dollar. */
  readonly amount: AtomicAmount;
  /** Of the rails with the most. */
  readonly by_rail: readonly { readonly rail: string; readonly count: number; readonly amount: AtomicAmount }[];
  /** Whether there are rails beside these. */
  readonly truncated: boolean;
}

/** Only what a look-up has found: nobody has looked at the rest. */
export async function verifiedSums({ query }: Pick<Database, 'query'>, book_id: string): Promise<VerifiedSums> {
  const rails = await query<VerifiedSums['by_rail'][number] & { all_count: number; all_amount: AtomicAmount }>({
    name: 'verified generations by rail',
    text: `select rail, count, amount, (sum(count) over ())::int as all_count, sum(amount) over () as all_amount
      from router_sum where book_id = $1 order by count desc, rail limit $2`,
    values: [book_id, routerLimits.summary_rails_max + 1],
  });
  const [first] = rails;
  return {
    count: first?.all_count ?? 0,
    amount: first?.all_amount ?? (0n as AtomicAmount),
    by_rail: rails.slice(0, routerLimits.summary_rails_max).map(({ rail, count, amount }) => ({ rail, count, amount })),
    truncated: rails.length > routerLimits.summary_rails_max,
  };
}
