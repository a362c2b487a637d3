import type { AtomicAmount } from '../../../../schema/amount.ts';
import type { AgentId } from '../../../../schema/ids.ts';
import { policyLimits } from '../../../../schema/limits.ts';
import type { Tx } from '../../../database.ts';
import { seqsFrom, seqsTo } from '../../page/row-scope.ts';
import { beginSimulation, type LedgerRow, type SimulationState, unspent } from './simulate.ts';

/** Time of the simulated calls: from the first (inclusive) to the second (exclusive). */
export interface SimulatedTime {
  readonly from: Date | null;
  readonly to: Date | null;
}

/** Rows of the simulation: after `state.seq` up to `last_seq`, whatever is recorded meanwhile. */
export interface SimulationSpan {
  readonly state: SimulationState;
  readonly last_seq: number;
}

/** Spending before `from`: whole hours of its day from the sums, its own hour from rows. */
const SEED = `with at as (select date_trunc('hour', $2::timestamptz, 'UTC') as hour, date_trunc('day', $2::timestamptz, 'UTC') as day)
  select at.hour, at.day,
    (select coalesce(sum(amount), 0) from book_sum where agent_id = $1 and dimension = 'day' and bucket = '' and period < at.day) as before_day,
    (select coalesce(sum(amount), 0) from book_sum
      where agent_id = $1 and dimension = 'hour' and bucket = '' and period >= at.day and period < at.hour) as before_hour,
    (select coalesce(sum(r.amount), 0) from book_row r where r.agent_id = $1 and r.amount is not null
      and r.evidence <> 'foreign_ingest'
      and r.seq >= (select min(first_seq) from book_sum where agent_id = $1 and dimension = 'hour' and period = at.hour)
      and r.seq <= (select max(last_seq) from book_sum where agent_id = $1 and dimension = 'hour' and period = at.hour)
      and r.collected_at >= at.hour and r.collected_at < $2::timestamptz) as in_hour,
    ${seqsFrom('$2')} as first_seq
  from at`;

const LAST_SEQ = `select coalesce(${seqsTo('$2')}, 0)::int as last_seq`;

interface Seed {
  readonly hour: Date;
  readonly day: Date;
  readonly before_day: AtomicAmount;
  readonly before_hour: AtomicAmount;
  readonly in_hour: AtomicAmount;
  /** Null if nothing was recorded since. */
  readonly first_seq: number | null;
}

/** Start and end of a simulation, with the spending by then. */
export async function simulationSpan(tx: Tx, agent_id: AgentId, { from, to }: SimulatedTime): Promise<SimulationSpan> {
  const [last, seed] = await Promise.all([
    tx.query<{ last_seq: number }>({
      name: 'simulation end',
      text: LAST_SEQ,
      values: [agent_id, to?.toISOString() ?? 'infinity'],
    }),
    from &&
      tx.query<Seed & Record<string, unknown>>({
        name: 'simulation seed',
        text: SEED,
        values: [agent_id, from.toISOString()],
      }),
  ]);
  const last_seq = last.rows[0]?.last_seq ?? 0;
  const found = seed?.rows[0];
  return { state: found ? seeded(found, last_seq) : beginSimulation(0, unspent), last_seq };
}

function seeded({ hour, day, before_day, before_hour, in_hour, first_seq }: Seed, last_seq: number): SimulationState {
  const in_day = (before_hour + in_hour) as AtomicAmount;
  return beginSimulation(first_seq === null ? last_seq : first_seq - 1, {
    spent_atomic: (before_day + in_day) as AtomicAmount,
    hour: { start_ms: hour.getTime(), atomic: in_hour },
    day: { start_ms: day.getTime(), atomic: in_day },
  });
}

/**
 * The next rows after `after` that have an amount or are calls by key, and the last seq read. Seqs have no gaps, so it is bounded.
 */
export async function nextRows(
  tx: Tx,
  agent_id: AgentId,
  { from, to }: SimulatedTime,
  { after, last_seq }: { readonly after: number; readonly last_seq: number },
): Promise<{ readonly rows: readonly LedgerRow[]; readonly through: number }> {
  const through = Math.min(after + policyLimits.simulated_rows_at_once, last_seq);
  const { rows } = await tx.query<LedgerRow & Record<string, unknown>>({
    name: 'simulated rows',
    text: `select seq, task_id, collected_at, amount, evidence, model, hub, fulfillment->>'resource' as resource
      from book_row where agent_id = $1 and seq > $2 and seq <= $3 and (amount is not null or (evidence = 'UNVERIFIED' and not facts ? 'corrects'))
        and collected_at >= $4::timestamptz and collected_at < $5::timestamptz order by seq`,
    values: [agent_id, after, through, from?.toISOString() ?? '-infinity', to?.toISOString() ?? 'infinity'],
  });
  return { rows, through };
}
