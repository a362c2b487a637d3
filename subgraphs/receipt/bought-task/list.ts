import { taskListing } from '../../../schema/task-listing.ts';
import type { TaskState } from '../../../schema/task-state.ts';
import type { Database } from '../../database.ts';
import type { ProvenBuyer } from './buyer.ts';

/** Which of one's tasks are asked for. */
export interface TaskFilter {
  readonly context_id: string | null;
  /** Null: however they stand. */
  readonly states: readonly TaskState[] | null;
  readonly since: Date | null;
  /** `next` of the page before. */
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
  /** Of all pages. */
  readonly total: number;
  /** Null where this is the last. */
  readonly next: string | null;
}

interface Row extends ListedTask, Record<string, unknown> {
  /** Where it stands in the order of the list; a text, since a number would be cut. */
  readonly at_us: string;
  readonly total: number;
}

const NEWEST = taskListing.newest;

/**
 * A buyer's own tasks, those first that have moved last. It looks through the newest of each kind and no further, so that a
 * list costs the same however long somebody has been buying; older ones are found by their ids, and among the receipts.
 */
export async function tasksOf(
  database: Database,
  { wallets, api_key_hash }: ProvenBuyer,
  filter: TaskFilter,
): Promise<TaskPage> {
  const { context_id, states, since, count } = filter;
  const before = positionOf(filter.before);
  const rows = await database.query<Row>({
    name: 'tasks of buyer',
    text: `with mine as (
        (select task_id, 'completed' as state, collected_at as at, payload::jsonb->>'intent_id' as intent_id from receipt
          where payer_wallet = any($1) and payment_ref is not null order by leaf_index desc limit ${NEWEST})
        union all
        (select task_id, case state when 'claimed' then 'working' else 'settling' end, moved_at, landing->>'intent_id'
          from payment_claim where payer = any($1) and state in ('claimed', 'settling') order by moved_at desc limit ${NEWEST})
        union all
        (select i.task_id, case when recorded_at is null then 'working' else 'completed' end, coalesce(recorded_at, begun_at),
            (select payload::jsonb->>'intent_id' from receipt r where r.task_id = i.task_id)
          from idempotent_call i where api_key_hash = $2 order by begun_at desc limit ${NEWEST})),
      asked as (select *, (extract(epoch from at) * 1000000)::bigint as at_us from mine
        where ($3::text is null or coalesce(intent_id, task_id) = $3) and ($4::text[] is null or state = any($4))
          and ($5::timestamptz is null or at >= $5))
      select task_id, state, at, intent_id, at_us::text as at_us, (select count(*)::integer from asked) as total from asked
      where $6::bigint is null or (at_us, task_id) < ($6::bigint, $7::text)
      order by at_us desc, task_id desc limit $8`,
    values: [
      wallets,
      api_key_hash,
      context_id,
      states,
      since,
      before?.at_us ?? null,
      before?.task_id ?? null,
      count + 1,
    ],
  });
  const tasks = rows.slice(0, count);
  const last = rows.length > count ? tasks.at(-1) : undefined;
  const total = rows[0]?.total ?? (before === null ? 0 : await countOf(database, { wallets, api_key_hash }, filter));
  return { tasks, total, next: last ? `${last.at_us}.${last.task_id}` : null };
}

/** Behind the last of them there is none that could say how many there are. */
async function countOf(database: Database, buyer: Pick<ProvenBuyer, 'wallets' | 'api_key_hash'>, filter: TaskFilter) {
  const { total } = await tasksOf(database, { ...buyer, agent_ids: [] }, { ...filter, before: null, count: 1 });
  return total;
}

export function positionOf(before: string | null): { readonly at_us: string; readonly task_id: string } | null {
  const [, at_us, task_id] = /^(\d{1,18})\.([\w-]{1,64})$/.exec(before ?? '') ?? [];
  return at_us && task_id ? { at_us, task_id } : null;
}
