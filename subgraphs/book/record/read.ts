import { atomicAmount } from '../../../schema/amount.ts';
import { countRange } from '../../../schema/count-range.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { Evidence } from '../../../schema/evidence.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Database } from '../../database.ts';
import type { RowDimension, SumDimension } from '../ledger/sums.ts';
import type { AgentRecord, OffBoardHistory } from './record.type.ts';

const sumsBy = (dimension: SumDimension | RowDimension) =>
  `from book_sum where agent_id = b.agent_id and dimension = '${dimension}' and count <> 0`;
/** SQL of the sums of finished days, by the clock of the database. */
const sumsBefore = (dimension: SumDimension | RowDimension) => `${sumsBy(dimension)} and period < today.begins`;

/** Counts finished days only, so that polling does not reveal the time of a call. Rows of today are counted from tomorrow on. */
const CARD = `select b.damage is not null as damaged, to_char(b.opened_at at time zone 'UTC', 'YYYY-MM-DD') as member_since,
    to_char(today.begins at time zone 'UTC', 'YYYY-MM-DD') as as_of, days.rows, days.blocked,
    (select count(distinct bucket) ${sumsBefore('hub')} and bucket <> '') as hubs,
    (select coalesce(jsonb_agg(distinct bucket), '[]') ${sumsBefore('network')} and bucket <> '') as networks,
    (select coalesce(jsonb_agg(jsonb_build_object('rail', rail, 'amount', amount::text) order by rail), '[]') from (
      select rail, sum(amount) as amount ${sumsBefore('day')} and rail <> '' group by rail) spent) as spend
  from book b cross join (select date_trunc('day', now(), 'UTC') as begins) today
  cross join lateral (
    select coalesce(sum(count), 0) as rows, coalesce(sum(count) filter (where bucket = 'policy_blocked'), 0) as blocked
    ${sumsBefore('evidence')}) days
  where b.agent_id = $1`;

interface Card {
  readonly damaged: boolean;
  readonly member_since: string;
  readonly as_of: string;
  readonly rows: string | bigint;
  readonly blocked: string | bigint;
  readonly hubs: string | bigint;
  readonly networks: string[];
  readonly spend: readonly { readonly rail: string; readonly amount: string }[];
}

/**
 * Reads the public record of an agent. Null if the agent does not exist.
 * @throws book_damaged
 */
export async function readRecord(database: Database, agent_id: number): Promise<AgentRecord | null> {
  const statement = { name: 'record card', text: CARD, values: [agent_id] };
  const [card] = await database.query<Card & Record<string, unknown>>(statement);
  if (!card) return null;
  if (card.damaged) throw new Refusal('book_damaged');
  return {
    agentId: agent_id,
    memberSince: card.member_since,
    asOf: card.as_of,
    rows: countRange(BigInt(card.rows)),
    blocked: countRange(BigInt(card.blocked)),
    hubs: countRange(BigInt(card.hubs)),
    networks: card.networks,
    spend: card.spend.map(({ rail, amount }) => ({ rail, amount: countRange(BigInt(amount)) })),
    offBoard: null,
  };
}

const COLLECTED_AT = 'select collected_at from book_row where agent_id = b.agent_id order by seq';

const HISTORY = `select b.by_rail,
    (select coalesce(jsonb_agg(jsonb_build_object('evidence', evidence, 'rows', rows) order by evidence), '[]') from (
      select bucket as evidence, sum(count) as rows ${sumsBy('evidence')} group by bucket) e
    ) as by_evidence,
    (select coalesce(jsonb_agg(jsonb_build_object('month', month, 'rows', rows) order by month), '[]') from (
      select to_char(period at time zone 'UTC', 'YYYY-MM') as month, sum(count) as rows ${sumsBy('evidence')} group by 1) m
    ) as by_month,
    (${COLLECTED_AT} limit 1) as first, (${COLLECTED_AT} desc limit 1) as last
  from book b where agent_id = $1`;

interface History {
  readonly by_rail: Readonly<Record<string, { readonly count: number; readonly amount: string }>>;
  readonly by_evidence: { readonly evidence: Evidence; readonly rows: number }[];
  readonly by_month: { readonly month: string; readonly rows: number }[];
  readonly first: Date | null;
  readonly last: Date | null;
}

/**
 * Reads the exact counts up to now, for the owner, and the times of the first and the last row. Null if the book does not exist.
 */
export async function readHistory(database: Database, agent_id: AgentId): Promise<OffBoardHistory | null> {
  const statement = { name: 'off-board history', text: HISTORY, values: [agent_id] };
  const [found] = await database.query<History & Record<string, unknown>>(statement);
  if (!found) return null;
  const { by_rail, by_evidence, by_month, first, last } = found;
  return {
    byRail: Object.entries(by_rail).map(([rail, { count, amount }]) => ({
      rail,
      count,
      amount: atomicAmount(BigInt(amount)),
    })),
    byEvidence: by_evidence,
    byMonth: by_month,
    firstCollectedAt: first,
    lastCollectedAt: last,
  };
}
