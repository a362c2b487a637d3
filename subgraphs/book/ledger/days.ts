import type { Tx } from '../../database.ts';

/*
 * Part of the ledger: how many rows a book has of each day and evidence, those without an amount too, counted in the
 * transaction of the rows themselves, under their head's lock.
 */

/** A row as far as its day counts it, once more or (-1) no more. */
export interface CountedOnDay {
  readonly agent_id: number;
  readonly collected_at: string | Date;
  readonly evidence: string;
  readonly times: 1 | -1;
}

const DAY = `(n.collected_at at time zone 'UTC')::date`;

/** Adds the rows of `source`, each so often as it says in `times`. */
const daysOf = (source: string) => `
  insert into book_day as d (agent_id, day, evidence, rows)
  select n.agent_id, ${DAY}, n.evidence, sum(n.times) from ${source} group by 1, 2, 3 order by 1, 2, 3
  on conflict (agent_id, day, evidence) do update set rows = d.rows + excluded.rows`;

/** Of a table that is empty: all rows that stand. */
export const STANDING_DAYS = daysOf('(select agent_id, collected_at, evidence, 1 as times from book_row) n');

const COUNTED = daysOf(
  'unnest($1::int[], $2::timestamptz[], $3::text[], $4::int[]) as n(agent_id, collected_at, evidence, times)',
);

export function countDays(tx: Tx, rows: readonly CountedOnDay[]): void {
  if (rows.length === 0) return;
  const times = rows.map(row => row.times);
  const columns = [rows.map(row => row.agent_id), rows.map(row => row.collected_at), rows.map(row => row.evidence)];
  tx.write({ name: 'count days', text: COUNTED, values: [...columns, times] });
}
