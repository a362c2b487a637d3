import type { AtomicAmount } from '../../../schema/amount.ts';
import type { TotalsBy } from '../../../schema/book/book-page.ts';
import { period_ms } from '../../../schema/clock-window.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { limits } from '../../../schema/limits.ts';
import type { Database } from '../../database.ts';
import { type SumDimension, sumDimensions } from '../ledger/sums.ts';
import type { GroupTotal } from './book.type.ts';

/** Time range of the totals: `from` inclusive, `to` exclusive. A bound that is null or absent is open. */
export interface TotalsWindow {
  readonly from?: Date | null | undefined;
  readonly to?: Date | null | undefined;
}

/**
 * Totals by these dimensions, read from the sums without reading rows. Hours and days: the newest 1,000, oldest first. Other
 * dimensions: the 1,000 with the largest amounts.
 * @throws Refusal invalid_request if a bound is not the start of an hour or day
 */
export async function totalsBy(
  database: Database,
  agent_id: AgentId,
  by: readonly TotalsBy[],
  window: TotalsWindow,
): Promise<GroupTotal[]> {
  const groups = await Promise.all([...new Set(by)].map(one => totalsOf(database, agent_id, one, window)));
  return groups.flat();
}

interface TotalRow {
  readonly period: Date | null;
  readonly bucket: string;
  readonly rail: string;
  readonly count: number;
  readonly amount: AtomicAmount;
}

async function totalsOf(
  database: Database,
  agent_id: AgentId,
  by: TotalsBy,
  { from = null, to = null }: TotalsWindow,
): Promise<GroupTotal[]> {
  const dimension = by.toLowerCase() as SumDimension;
  requireWhole(dimension, { from, to });
  const timed = by === 'HOUR' || by === 'DAY';
  const values = [agent_id, dimension, from?.toISOString() ?? '-infinity', to?.toISOString() ?? 'infinity'];
  const statement = timed ? { name: 'sums by time', text: BY_TIME } : { name: 'sums by name', text: BY_NAME };
  const found = await database.query<TotalRow & Record<string, unknown>>({
    ...statement,
    values: [...values, limits.totals_groups_max + 1],
  });
  const truncated = found.length > limits.totals_groups_max;
  // One group more than the maximum is read. If it exists, older times or smaller amounts are left out.
  const shown = truncated ? (timed ? found.slice(1) : found.slice(0, -1)) : found;
  return shown.map(({ period, bucket, rail, count, amount }) => ({
    by,
    period,
    key: timed || bucket === '' ? null : bucket,
    rail: rail === '' ? null : rail,
    count,
    amount,
    truncated,
  }));
}

const WINDOW = `from book_sum where agent_id = $1 and dimension = $2 and period >= $3::timestamptz and period < $4::timestamptz`;
const BY_TIME = `select * from (select period, '' as bucket, rail, sum(count)::int as count, sum(amount) as amount ${WINDOW}
    group by period, rail having sum(count) <> 0 order by period desc, rail limit $5) newest order by period, rail`;
const BY_NAME = `select null::timestamptz as period, bucket, rail, sum(count)::int as count, sum(amount) as amount ${WINDOW}
  group by bucket, rail having sum(count) <> 0 order by 5 desc, bucket, rail limit $5`;

/**
 * Sums are stored by whole hours and days.
 * @throws Refusal invalid_request
 */
function requireWhole(dimension: SumDimension, window: Required<TotalsWindow>): void {
  const { period } = sumDimensions[dimension];
  for (const param of ['from', 'to'] as const) {
    const at_ms = window[param]?.getTime() ?? 0;
    if (at_ms % period_ms[period] !== 0)
      throw new Refusal('invalid_request', {
        param,
        detail: `${param} must be the start of ${period === 'hour' ? 'an hour' : 'a day'} (UTC), because totals by ${dimension} are kept per ${period}.`,
      });
  }
}
