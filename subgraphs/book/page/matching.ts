import { type AtomicAmount, atomicAmount } from '../../../schema/amount.ts';
import { periodStart } from '../../../schema/clock-window.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { limits } from '../../../schema/limits.ts';
import type { Database } from '../../database.ts';
import type { RowDimension } from '../ledger/sums.ts';
import { type Parameter, type RowFilter, rowTests, seqBounds } from './row-scope.ts';

/* Counts and sums all rows that match a filter, not only those of one page. The cost does not depend on the size of the book. */

/** Count and sum of the matching rows. Each is null if finding it requires reading more rows than `matching_rows_read_max`. */
export interface MatchingRows {
  /** Number of matching rows, including those without an amount. */
  readonly count: number | null;
  /** Sum of the matching USDC amounts, in atomic USDC. */
  readonly usdc_sum: AtomicAmount | null;
}

interface Times {
  readonly from: number | null;
  readonly to: number | null;
}

/**
 * How rows are counted. `counted`: from the sums by day and evidence, while rows are read for parts of days. `read`: there is no
 * sum for the filter, so rows are read by an index.
 */
export type MatchingPlan =
  | { readonly kind: 'whole_book' }
  | { readonly kind: 'counted'; readonly days: Times | null; readonly parts_of_days: readonly Required<Times>[] }
  | { readonly kind: 'read' };

export function matchingPlan(filter: RowFilter): MatchingPlan {
  const { from, to, evidence, ...named } = filter;
  if (Object.values(named).some(value => (value ?? null) !== null)) return { kind: 'read' };
  const range = { from: from?.getTime() ?? null, to: to?.getTime() ?? null };
  if (range.from === null && range.to === null && !evidence) return { kind: 'whole_book' };
  const days = {
    from: range.from === null ? null : -periodStart('day', -range.from),
    to: range.to === null ? null : periodStart('day', range.to),
  };
  // The times are within one day, or `to` is before `from`.
  if (days.from !== null && days.to !== null && days.from > days.to)
    return { kind: 'counted', days: null, parts_of_days: [range] };
  const begun = range.from !== null && range.from !== days.from ? [{ from: range.from, to: days.from }] : [];
  const ending = range.to !== null && range.to !== days.to ? [{ from: days.to, to: range.to }] : [];
  return { kind: 'counted', days, parts_of_days: [...begun, ...ending] };
}

export function isFiltered(filter: RowFilter | null | undefined): boolean {
  return matchingPlan(filter ?? {}).kind !== 'whole_book';
}

/**
 * SQL of one row {matching_count, matching_usdc_sum} over book $1. It is a part of the statement that reads the rows, so that both
 * come from one snapshot. `parameter` adds a value and returns its name in the SQL.
 */
export function matchingText(
  filter: RowFilter | null | undefined,
  parameter: Parameter,
  read_max: number = limits.matching_rows_read_max,
): string {
  const parts = partsOf(filter ?? {}, parameter, read_max);
  const known = (what: string) => `case when bool_and(known) then ${what} end`;
  return `select ${known('sum(count)::int')} as matching_count, ${known('sum(usdc_sum)::text')} as matching_usdc_sum
    from (${parts.join(' union all ')}) parts`;
}

function partsOf(filter: RowFilter, parameter: Parameter, read_max: number): string[] {
  const plan = matchingPlan(filter);
  switch (plan.kind) {
    case 'whole_book':
      return [sumsOf('rows', [])];
    case 'read':
      return [readOf(byName(filter, parameter), read_max)];
    case 'counted': {
      const { evidence } = filter;
      const read = plan.parts_of_days.map(part => readOf(byTime(part, evidence, parameter), read_max));
      return plan.days === null ? read : [sumsOf('evidence', ofDays(plan.days, evidence, parameter)), ...read];
    }
  }
}

const sumsOf = (dimension: RowDimension, conditions: readonly string[]) =>
  `select coalesce(sum(count), 0) as count, coalesce(sum(amount) filter (where rail = 'usdc'), 0) as usdc_sum, true as known
    from book_sum where ${['agent_id = $1', `dimension = '${dimension}'`, ...conditions].join(' and ')}`;

const moment = (at_ms: number | null) => (at_ms === null ? null : new Date(at_ms));

function ofDays({ from, to }: Times, evidence: RowFilter['evidence'], parameter: Parameter): string[] {
  return [
    ...(from === null ? [] : [`period >= ${parameter(moment(from)?.toISOString())}::timestamptz`]),
    ...(to === null ? [] : [`period < ${parameter(moment(to)?.toISOString())}::timestamptz`]),
    ...(evidence ? [`bucket = ${parameter(evidence)}`] : []),
  ];
}

interface SeqQuery {
  /** SQL that reads seqs by an index. */
  readonly seqs: string;
  /** Conditions on each row that is read by its seq. */
  readonly matches: readonly string[];
}

/**
 * Reads one seq beyond the limit. If it exists, the count is unknown. Each row is read by its key, whatever plan Postgres chooses
 * for the rest.
 */
const readOf = ({ seqs, matches }: SeqQuery, read_max: number) =>
  `select count(*) filter (where matches) as count,
      coalesce(sum(amount) filter (where matches and rail = 'usdc'), 0) as usdc_sum, count(*) <= ${read_max} as known
    from (${seqs} order by seq limit ${read_max + 1}) s cross join lateral (
      select amount, rail, (${matches.join(' and ') || 'true'}) as matches from book_row
      where agent_id = $1 and seq = s.seq offset 0) looked_up`;

/** Query for part of a day. The sums by hour give the range of seqs. */
function byTime(part: Times, evidence: RowFilter['evidence'], parameter: Parameter): SeqQuery {
  const [from, to] = [moment(part.from), moment(part.to)];
  const [begins, ends] = [from, to].map(at => parameter(at?.toISOString()));
  const end = (seq: string) => `(select ${seq} from book_sum where agent_id = $1 and dimension = 'hour'
    and period >= date_trunc('hour', ${begins}::timestamptz, 'UTC') and period < ${ends}::timestamptz)`;
  return {
    seqs: `select seq from book_row where agent_id = $1
      and seq >= ${end('min(first_seq)')} and seq <= ${end('max(last_seq)')}`,
    matches: rowTests({ from, to, evidence: evidence ?? null }, parameter),
  };
}

/** Query by an indexed value, within the seqs of the time. Time and evidence are then checked on each row. */
function byName({ from = null, to = null, evidence = null, ...named }: RowFilter, parameter: Parameter): SeqQuery {
  const seqs = ['agent_id = $1', ...rowTests(named, parameter), ...seqBounds({ from, to }, parameter)];
  return {
    seqs: `select seq from book_row where ${seqs.join(' and ')}`,
    matches: rowTests({ from, to, evidence }, parameter),
  };
}

/** Row that the statement of `matchingText` returns. */
export interface FoundMatching {
  readonly matching_count: number | null;
  readonly matching_usdc_sum: string | null;
}

export function matchingOf({ matching_count, matching_usdc_sum }: FoundMatching): MatchingRows {
  return {
    count: matching_count,
    usdc_sum: matching_usdc_sum === null ? null : atomicAmount(BigInt(matching_usdc_sum)),
  };
}

/** Reads count and sum by a separate statement. */
export async function readMatching(
  database: Pick<Database, 'query'>,
  agent_id: AgentId,
  filter: RowFilter | null | undefined,
  read_max?: number,
): Promise<MatchingRows> {
  const values: unknown[] = [agent_id];
  const text = matchingText(filter, value => `$${values.push(value)}`, read_max);
  const [found] = await database.query<FoundMatching & Record<string, unknown>>({ text, values });
  if (!found) throw new Error('an aggregate is always one row');
  return matchingOf(found);
}
