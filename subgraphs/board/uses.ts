import { reactionLimits } from '../../schema/board/reaction-limits.ts';
import { Refusal } from '../../schema/errors.ts';
import type { Database } from '../database.ts';

/** What is counted: of whom, and how often it may be within an hour of the database's clock (UTC). */
interface CountedUse {
  readonly holder: string;
  readonly max: number;
  /** What whoever is refused is told. */
  readonly detail: string;
}

/**
 * Takes one use of what nobody pays for. In the database, since one process behind another would let as many pass again; and
 * atomic, so that no two take the last. By itself, before the transaction of what it is taken for: what is refused there has cost
 * as much, and counts.
 * @throws rate_limited
 */
export async function takeBoardUse(
  { query }: Pick<Database, 'query'>,
  { holder, max, detail }: CountedUse,
): Promise<void> {
  const taken = await query({
    name: 'take board use',
    text: `insert into board_use as u (holder, period, uses)
      values ($1, date_trunc('hour', clock_timestamp(), 'UTC'), 1)
      on conflict (holder, period) do update set uses = u.uses + 1 where u.uses < $2 returning uses`,
    values: [holder, max],
  });
  if (taken.length > 0) return;
  const [left] = await query<{ seconds: number }>({
    name: 'rest of a board hour',
    text: `select ceil(extract(epoch from date_trunc('hour', clock_timestamp(), 'UTC') + interval '1 hour'
      - clock_timestamp()))::int as seconds`,
  });
  throw new Refusal('rate_limited', { detail, facts: { retry_after_seconds: left?.seconds ?? 1 } });
}

/** A periodic job: counts of hours that are over. */
export async function forgetBoardUses(database: Pick<Database, 'query'>): Promise<void> {
  await database.query({
    name: 'forget board uses',
    text: 'delete from board_use where period < now() - make_interval(hours => $1)',
    values: [reactionLimits.uses_kept_hours],
  });
}
