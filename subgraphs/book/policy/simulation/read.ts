import type { AtomicAmount } from '../../../../schema/amount.ts';
import type { AgentId } from '../../../../schema/ids.ts';
import { policyLimits } from '../../../../schema/limits.ts';
import { STAMPED_BY } from '../../../../schema/route-words.ts';
import type { Tx } from '../../../database.ts';
import { spentColumns } from '../../ledger/spend-kind.ts';
import { seqsFrom, seqsTo } from '../../page/row-scope.ts';
import { beginSimulation, type LedgerRow, type SimulationState, unspent } from './simulate.ts';

/** Period of the simulated calls: `from` is inclusive, `to` is exclusive, and null sets no limit. */
export interface SimulatedTime {
  readonly from: Date | null;
  readonly to: Date | null;
}

/** Rows that are still to be simulated: after `state.seq` up to `last_seq`. Rows recorded later do not extend it. */
export interface SimulationSpan {
  readonly state: SimulationState;
  readonly last_seq: number;
}

/** Spending before `from`. Whole days and hours are read from the stored sums, and the hour that contains `from` from its rows. */
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
  /** Seq of the first row since `from`. Null if there is none. */
  readonly first_seq: number | null;
}

/** Start and end of a simulation, with the spending before its start. */
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
  return { state: found ? stateFromSeed(found, last_seq) : beginSimulation(0, unspent), last_seq };
}

function stateFromSeed(
  { hour, day, before_day, before_hour, in_hour, first_seq }: Seed,
  last_seq: number,
): SimulationState {
  const in_day = (before_hour + in_hour) as AtomicAmount;
  return beginSimulation(first_seq === null ? last_seq : first_seq - 1, {
    spent_atomic: (before_day + in_day) as AtomicAmount,
    hour: { start_ms: hour.getTime(), atomic: in_hour },
    day: { start_ms: day.getTime(), atomic: in_day },
  });
}

/**
 * Fee of a job, read for the row of the payment to its winner. That row is the only row of the board with a payee (`pay_to`), and the
 * row of the fee is written just before it.
 */
const JOB_FEE = `case when r.hub = '${STAMPED_BY}' and r.facts->>'pay_to' is not null then (
  select f.amount from book_row f where f.agent_id = r.agent_id and f.seq = r.seq - 1 and f.hub = r.hub and f.model = r.model) end`;

/** Whether the receipt of a row opened the book. Such a receipt is in the first row and was signed without a book. */
const OPENED_BOOK = `r.seq = 1 and exists (select from receipt o where o.task_id = r.task_id and o.agent_id is null)`;

/**
 * The next rows after `after` that have an amount or may be calls with an API key, and the last seq that was read (`through`). Seqs have
 * no gaps, so a range of seqs limits the number of rows.
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
    text: `select r.seq, r.task_id, r.collected_at, r.amount, r.model, r.hub, r.fulfillment->>'resource' as resource,
        r.fulfillment->>'job_kind' as job_kind, ${spentColumns('r.amount')}, ${JOB_FEE} as fee, ${OPENED_BOOK} as opened_book
      from book_row r where r.agent_id = $1 and r.seq > $2 and r.seq <= $3
        and (r.amount is not null or (r.evidence = 'UNVERIFIED' and not r.facts ? 'corrects'))
        and r.collected_at >= $4::timestamptz and r.collected_at < $5::timestamptz order by r.seq`,
    values: [agent_id, after, through, from?.toISOString() ?? '-infinity', to?.toISOString() ?? 'infinity'],
  });
  return { rows, through };
}
