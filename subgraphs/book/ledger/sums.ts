import type { RowRecord } from '../../../schema/book-row.ts';
import type { Tx } from '../../database.ts';
import { SESSION_OF_ROW } from './session-of-row.ts';

/*
 * Part of the ledger: what a book came to by the hour, the day, the model and so on, counted in the transaction of the rows
 * themselves, under their head's lock, so that totals never scan. At any moment a sum is what the rows show that stand.
 */

const ELSEWHERE = `case r.evidence when 'foreign_ingest' then 'elsewhere' end`;

/**
 * By what rows are counted, and how it is read off one, `r`. All but the hours are kept by UTC day, those without a value
 * under the empty text. Hours count rows without an amount too: they tell between which seqs the rows of a time lie. Of
 * hours and days what was spent elsewhere is kept apart, since no cap and no habit is one of that.
 */
export const sumDimensions = {
  hour: { period: 'hour', bucket: ELSEWHERE },
  day: { period: 'day', bucket: ELSEWHERE },
  model: { period: 'day', bucket: 'r.model' },
  hub: { period: 'day', bucket: 'r.hub' },
  intent: { period: 'day', bucket: 'r.intent_id' },
  payer: { period: 'day', bucket: 'r.payer_wallet' },
  network: { period: 'day', bucket: `split_part(r.payment_ref, ':', 1)` },
  session: { period: 'day', bucket: SESSION_OF_ROW },
} as const satisfies Record<string, { readonly period: 'hour' | 'day'; readonly bucket: string }>;
export type SumDimension = keyof typeof sumDimensions;

const truncated = (period: string) => `date_trunc('${period}', r.collected_at, 'UTC')`;

/**
 * By these all rows count, those without an amount too. `rows` are of all time under one key, so that a sequence is told at
 * the cost of a young book; `evidence` is by UTC day, as an agent's record tells of days that are over.
 */
const rowDimensions = {
  rows: { period: 'to_timestamp(0)', bucket: `''` },
  evidence: { period: truncated('day'), bucket: 'r.evidence' },
} as const;
export type RowDimension = keyof typeof rowDimensions;

const byRows = Object.entries(rowDimensions).map(
  ([name, { period, bucket }]) => `('${name}', ${period}, ${bucket}, true)`,
);
const ofMoney = (name: SumDimension) => {
  const { period, bucket } = sumDimensions[name];
  return `('${name}', ${truncated(period)}, ${bucket}, false)`;
};
const dimensions = [...(Object.keys(sumDimensions) as readonly SumDimension[]).map(ofMoney), ...byRows];

const COUNT = 'sum(case when d.of_rows or r.amount is not null then r.times else 0 end)';
const AMOUNT = 'coalesce(sum(r.amount * r.times), 0)';

/**
 * Adds what the rows of `source` come to, each so often as it says in `times`. A row that counts in one place as before, once
 * less and once more, is not written there.
 */
const added = (source: string) => `
  insert into book_sum as s (agent_id, dimension, period, bucket, rail, count, amount, first_seq, last_seq)
  select r.agent_id, d.dimension, d.period, coalesce(d.bucket, ''), coalesce(r.rail, ''),
    ${COUNT}, ${AMOUNT}, min(r.seq), max(r.seq)
  from ${source} cross join lateral (values ${dimensions.join(', ')}) as d(dimension, period, bucket, of_rows)
  where r.amount is not null or d.of_rows or d.dimension = 'hour'
  group by 1, 2, 3, 4, 5 having (sum(r.times), ${COUNT}, ${AMOUNT}) <> (0, 0, 0)
  order by 1, 2, 3, 4, 5
  on conflict (agent_id, dimension, period, bucket, rail) do update set
    count = s.count + excluded.count, amount = s.amount + excluded.amount,
    first_seq = least(s.first_seq, excluded.first_seq), last_seq = greatest(s.last_seq, excluded.last_seq)`;

/**
 * Counts rows that were written past the ledger, as the bench's are.
 * @public
 */
export const sumsOfRows = (rows: string): string => added(`(select n.*, 1 as times from ${rows} n) r`);

/** What of a row the sums are made of. Sent as columns: to write all of a batch out as JSON once more took a third of its time. */
const countedColumns = {
  agent_id: 'int',
  seq: 'int',
  task_id: 'text',
  collected_at: 'timestamptz',
  evidence: 'text',
  amount: 'numeric',
  rail: 'text',
  model: 'text',
  hub: 'text',
  intent_id: 'text',
  payer_wallet: 'text',
  payment_ref: 'text',
} as const satisfies { readonly [K in keyof RowRecord]?: string };
export type CountedColumn = keyof typeof countedColumns;
export const countedNames = Object.keys(countedColumns) as readonly CountedColumn[];
const columns = { ...countedColumns, times: 'int' };
const names = Object.keys(columns) as (keyof typeof columns)[];
const asArrays = Object.values(columns).map((type, index) => `$${index + 1}::${type}[]`);
const COUNTED = added(`unnest(${asArrays.join(', ')}) as r(${names.join(', ')})`);

/** A row as it was born or stands, that counts once more or (-1) no more. */
export type CountedRow = { readonly [K in CountedColumn]: unknown } & { readonly times: 1 | -1 };

export function countRows(tx: Tx, rows: readonly CountedRow[]): void {
  if (rows.length === 0) return;
  tx.write({ name: 'count rows', text: COUNTED, values: names.map(name => rows.map(row => row[name])) });
}
