import type { RowRecord } from '../../../schema/book-row.ts';
import type { Tx } from '../../database.ts';
import { SESSION_OF_ROW } from './session-of-row.ts';

/*
 * Sums of a book by hour, day, model and other dimensions. They are written in the transaction of the rows and under the lock of
 * the head, so that totals never need a scan. A sum always equals what the current rows show.
 */

const ELSEWHERE = `case r.evidence when 'foreign_ingest' then 'elsewhere' end`;

/**
 * Dimensions of the sums, and the SQL that reads each from a row `r`. All except hours are by UTC day. Rows without the value are
 * summed under the empty text. Hours also include rows without an amount, so that the seqs of a period can be found. Hours and days
 * separate spending elsewhere, because neither caps nor the usual spending include it.
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
 * Dimensions that count all rows. `rows` has one key for all time, so that reading the count costs the same for any book.
 * `evidence` is by UTC day, for the public record of finished days.
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

/** SQL that adds the rows of `source`, each multiplied by its `times`. Changes that cancel out are not written. */
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
 * SQL that counts rows written without the ledger, such as those of the bench.
 * @public
 */
export const sumsOfRows = (rows: string): string => added(`(select n.*, 1 as times from ${rows} n) r`);

/**
 * Columns of a row that the sums use. They are sent as one array per column, because writing them as JSON took a third of the time
 * of a batch.
 */
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

/** Row to be added to the sums (1) or removed from them (-1). */
export type CountedRow = { readonly [K in CountedColumn]: unknown } & { readonly times: 1 | -1 };

export function countRows(tx: Tx, rows: readonly CountedRow[]): void {
  if (rows.length === 0) return;
  tx.write({ name: 'count rows', text: COUNTED, values: names.map(name => rows.map(row => row[name])) });
}
