import { reactionLimits, routerLimits, sessionLimits } from '../schema/limits.ts';
import type { Database } from './database.ts';

/*
 * Counts unpaid uses by UTC hour and day of the database's clock. The counts are kept in the database, because a count in each process
 * would multiply the limit.
 */

type Period = 'hour' | 'day';

/** Hours for which the counts of each subgraph are kept. */
const kept_hours = {
  board_use: reactionLimits.uses_kept_hours,
  router_use: routerLimits.uses_kept_hours,
  session_use: sessionLimits.uses_kept_hours,
};

type UseTable = keyof typeof kept_hours;

/** One count: its holder, its period, and its limit. */
export interface CountedUse {
  readonly holder: string;
  readonly period: Period;
  readonly max: number;
}

/** SQL expression for the seconds left in the current period. */
export const SECONDS_LEFT = (period: Period) =>
  `ceil(extract(epoch from date_trunc('${period}', clock_timestamp(), 'UTC') + interval '1 ${period}' - clock_timestamp()))::int`;

/**
 * Takes one use. Returns null, or the seconds until the next period if no use is left. Atomic: only one of several callers can take the
 * last use.
 */
export async function takeUse(
  reads: Pick<Database, 'query'>,
  table: UseTable,
  { holder, period, max }: CountedUse,
): Promise<number | null> {
  const taken = await reads.query({
    name: `take ${table} of a ${period}`,
    text: `insert into ${table} as u (holder, period, uses)
      values ($1, date_trunc('${period}', clock_timestamp(), 'UTC'), 1)
      on conflict (holder, period) do update set uses = u.uses + 1 where u.uses < $2 returning uses`,
    values: [holder, max],
  });
  if (taken.length > 0) return null;
  const [left] = await reads.query<{ seconds: number }>({
    name: `rest of a ${period}`,
    text: `select ${SECONDS_LEFT(period)} as seconds`,
  });
  return left?.seconds ?? 1;
}

/** Periodic job: deletes counts that are no longer kept. */
export async function forgetUses(reads: Pick<Database, 'query'>, table: UseTable): Promise<void> {
  await reads.query({
    name: `forget counts of ${table}`,
    text: `delete from ${table} where period < now() - make_interval(hours => $1)`,
    values: [kept_hours[table]],
  });
}
