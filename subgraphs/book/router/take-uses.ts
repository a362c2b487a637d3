import { type CountedUse, SECONDS_LEFT } from '../../counted-use.ts';
import type { Tx } from '../../database.ts';

/** An item of a batch, and the daily limits that it counts toward. */
export interface LimitedItem {
  /** Key of the item in the result of `takeUses`. */
  readonly name: string;
  readonly uses: readonly CountedUse[];
}

/** A limit that is reached, and the seconds until it starts again. */
export interface FullUse {
  readonly use: CountedUse;
  readonly seconds: number;
}

interface UseCount {
  readonly holder: string;
  readonly period: Date;
  readonly uses: number;
  readonly seconds: number;
}

/**
 * Takes one use of each limit of an item, for one item after the other. An item takes no use if one of its limits is reached. Returns
 * these refused items by name. Limits are locked in the order of their holders, so that no two processes wait for each other.
 */
export async function takeUses(tx: Tx, wanting: readonly LimitedItem[]): Promise<ReadonlyMap<string, FullUse>> {
  const holders = [...new Set(wanting.flatMap(({ uses }) => uses.map(({ holder }) => holder)))].sort();
  const { rows } = await tx.query<UseCount & Record<string, unknown>>({
    name: 'lock router uses of a day',
    text: `insert into router_use as u (holder, period, uses)
      select holder, date_trunc('day', clock_timestamp(), 'UTC'), 0 from unnest($1::text[]) as w (holder) order by holder
      on conflict (holder, period) do update set uses = u.uses
      returning holder, period, uses, ${SECONDS_LEFT('day')} as seconds`,
    values: [holders],
  });
  const counted = new Map(rows.map(row => [row.holder, row]));
  const taken = new Map<string, number>();
  const full = new Map<string, FullUse>();
  for (const { name, uses } of wanting) {
    const used = (holder: string) => (counted.get(holder)?.uses ?? 0) + (taken.get(holder) ?? 0);
    const use = uses.find(({ holder, max }) => used(holder) >= max);
    if (use) full.set(name, { use, seconds: counted.get(use.holder)?.seconds ?? 1 });
    else for (const { holder } of uses) taken.set(holder, (taken.get(holder) ?? 0) + 1);
  }
  const more = [...taken].map(([holder, uses]) => ({ holder, period: counted.get(holder)?.period, uses }));
  tx.write({
    name: 'take router uses of a day',
    text: `update router_use u set uses = u.uses + w.uses from jsonb_populate_recordset(null::router_use, $1::jsonb) w
      where u.holder = w.holder and u.period = w.period`,
    values: [JSON.stringify(more)],
  });
  return full;
}
