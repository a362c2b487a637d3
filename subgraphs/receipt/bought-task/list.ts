import { buyerLimits } from '../../../schema/limits.ts';
import { TASKS_PAGE_TOKEN, type TaskState } from '../../../schema/task-state.ts';
import type { Database } from '../../database.ts';
import { CANCELED } from '../claim/cancel.ts';
import { ACCEPTED_RULE } from '../receipt/task-status.ts';
import type { ProvenBuyer } from './buyer.ts';

/** Filter of a list of bought tasks. */
export interface TaskFilter {
  /** Ids of intents, or of tasks that have no intent. Null: any. */
  readonly context_ids: readonly string[] | null;
  /** Null: any state. */
  readonly states: readonly TaskState[] | null;
  readonly since: Date | null;
  /** `next` of the previous page. Null for the first page. */
  readonly before: string | null;
  readonly count: number;
}

export interface ListedTask {
  readonly task_id: string;
  readonly state: TaskState;
  readonly at: Date;
  readonly intent_id: string | null;
}

export interface TaskPage {
  readonly tasks: readonly ListedTask[];
  /** Number of tasks on all pages. */
  readonly total: number;
  /** Null on the last page. */
  readonly next: string | null;
}

interface Row extends ListedTask, Record<string, unknown> {
  /** Time in microseconds, by which the list is sorted. It is text because a number would be rounded. */
  readonly at_us: string;
  readonly total: number;
}

const NEWEST = buyerLimits.listed_tasks_max;

/** SQL that runs `select` for each buyer separately, so that it reads an index from its end, and no further than necessary. */
const eachOf = (given: string, select: string) =>
  `(select own.* from unnest(${given}) as buyer cross join lateral (${select} limit ${NEWEST}) own)`;

/** SQL expression for the state of a task by its receipt, which must agree with `recordedTask`. */
const recordedState = (payload: string) =>
  `case when ${payload}::jsonb#>>'{fulfillment,output_commitment,omission_rule}' = '${ACCEPTED_RULE}' then 'accepted' else 'completed' end`;

const receipts = `select 1 as rank, task_id, ${recordedState('payload')} as state, collected_at as at, payload::jsonb->>'intent_id' as intent_id
  from receipt`;
const claims = `select 2, task_id,
    case when state = 'claimed' then 'working' when state = 'settling' then 'settling'
      when refusal_id is not null then 'refused' when reason = '${CANCELED}' then 'canceled' else 'released' end,
    moved_at, landing->>'intent_id'
  from payment_claim`;

/** States of a buyer's tasks in all sources. If a task has several states, the one with the lowest `rank` applies. */
const MINE = [
  eachOf('$1::text[]', `${receipts} where payer_wallet = buyer and payment_ref is not null order by leaf_index desc`),
  eachOf('$9::integer[]', `${receipts} where agent_id = buyer order by leaf_index desc`),
  eachOf('$1::text[]', `${claims} where payer = buyer and state in ('claimed', 'settling') order by moved_at desc`),
  eachOf('$1::text[]', `${claims} where payer = buyer and state = 'released' order by moved_at desc`),
  eachOf(
    '$9::integer[]',
    `${claims} where agent_id = buyer and state in ('claimed', 'settling', 'released') order by moved_at desc`,
  ),
  `(select 3, i.task_id, case when recorded_at is null then 'working' else ${recordedState('r.payload')} end,
      coalesce(r.collected_at, recorded_at, begun_at), r.payload::jsonb->>'intent_id'
    from idempotent_call i left join receipt r on r.task_id = i.task_id
    where i.api_key_hash = $2 order by begun_at desc limit ${NEWEST})`,
  `(select 3, task_id, 'canceled', canceled_at, null from key_call where canceled_for = $2
    order by canceled_at desc limit ${NEWEST})`,
  eachOf(
    '$9::integer[]',
    `select 4, task_id, 'refused', issued_at, null from refusal where agent_id = buyer and task_id not like 'act\\_%' order by book_seq desc`,
  ),
].join(' union all ');

const LIST = `with mine as (${MINE}),
    told as (select distinct on (task_id) * from mine order by task_id, rank),
    asked as (select *, (extract(epoch from at) * 1000000)::bigint as at_us from told
      where ($3::text[] is null or coalesce(intent_id, task_id) = any($3)) and ($4::text[] is null or state = any($4))
        and ($5::timestamptz is null or at >= $5))
  select task_id, state, at, intent_id, at_us::text as at_us, (select count(*)::integer from asked) as total from asked
  where $6::bigint is null or (at_us, task_id) < ($6::bigint, $7::text)
  order by at_us desc, task_id desc limit $8`;

/**
 * Tasks of a buyer, most recently changed first: those that their wallets or their key bought, and those on their book. Only the newest of
 * each kind are searched, so the cost of a list does not grow. Older ones are found by id, and among the receipts.
 */
export async function tasksOf(database: Database, buyer: ProvenBuyer, filter: TaskFilter): Promise<TaskPage> {
  const { context_ids, states, since, count } = filter;
  const before = positionOf(filter.before);
  const from = [before?.at_us ?? null, before?.task_id ?? null, count + 1];
  const rows = await database.query<Row>({
    name: 'tasks of buyer',
    text: LIST,
    values: [buyer.wallets, buyer.api_key_hash, context_ids, states, since, ...from, buyer.agent_ids],
  });
  const tasks = rows.slice(0, count);
  const last = rows.length > count ? tasks.at(-1) : undefined;
  const total = rows[0]?.total ?? (before === null ? 0 : await countOf(database, buyer, filter));
  return { tasks, total, next: last ? `${last.at_us}.${last.task_id}` : null };
}

/** Counts the tasks on all pages. Needed for a page after the last task, which has no row that could contain the total. */
async function countOf(database: Database, buyer: ProvenBuyer, filter: TaskFilter): Promise<number> {
  const { total } = await tasksOf(database, buyer, { ...filter, before: null, count: 1 });
  return total;
}

export function positionOf(before: string | null): { readonly at_us: string; readonly task_id: string } | null {
  const [, at_us, task_id] = TASKS_PAGE_TOKEN.exec(before ?? '') ?? [];
  return at_us && task_id ? { at_us, task_id } : null;
}
