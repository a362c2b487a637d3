import type { BookEventKind } from '../../../schema/book/event.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { limits } from '../../../schema/limits.ts';
import { iso } from '../../clock.ts';
import type { Database, Tx } from '../../database.ts';
import { appendEvent, type EventRecord, headOf, lockBooks, storeBooks } from './append.ts';

/*
 * Repeats on one row (replays, equal refusals) that are too frequent for one event each. They are counted, and the count becomes
 * one event a minute. Counting locks the counter but no head, and notifies no subscriber. Lock order: hours → counters, by agent,
 * seq and kind → book heads.
 */

/** Number of equal repeats on a row. */
export interface RepeatCount {
  readonly agent_id: AgentId;
  readonly seq: number;
  readonly kind: BookEventKind;
  readonly task_id: string;
  readonly body: JsonObject;
  readonly count: number;
  readonly first_at: string;
  readonly last_at: string;
}

export function countRepeats(tx: Tx, counts: readonly RepeatCount[]): void {
  if (counts.length === 0) return;
  tx.write({
    name: 'add counts',
    text: `insert into book_counted (agent_id, seq, kind, task_id, body, count, first_at, last_at)
      select agent_id, seq, kind, task_id, body, count, first_at, last_at
      from jsonb_populate_recordset(null::book_counted, $1::jsonb) order by agent_id, seq, kind
      on conflict (agent_id, seq, kind) do update set count = book_counted.count + excluded.count,
        first_at = least(book_counted.first_at, excluded.first_at), last_at = greatest(book_counted.last_at, excluded.last_at)`,
    values: [JSON.stringify(counts)],
  });
}

type StoredCount = Omit<RepeatCount, 'first_at' | 'last_at'> & { readonly first_at: Date; readonly last_at: Date };

/**
 * Appends one event per counter that is at least `seconds` old and deletes the counter in the same transaction, so that each repeat
 * is recorded once. Returns the number of events. A call takes a limited number of counters, and skips those that another process
 * has locked.
 */
export async function appendRepeats(tx: Tx, seconds: number = limits.counted_seconds): Promise<number> {
  const { rows } = await tx.query<StoredCount>({
    name: 'take counts',
    text: `delete from book_counted where (agent_id, seq, kind) in (
        select agent_id, seq, kind from book_counted where first_at <= now() - make_interval(secs => $1)
        order by first_at limit $2 for update skip locked)
      returning *`,
    values: [seconds, limits.counted_per_transaction_max],
  });
  const books = await lockBooks(
    tx,
    rows.map(row => row.agent_id),
  );
  const events: EventRecord[] = [];
  for (const { agent_id, seq, kind, task_id, body, count, first_at, last_at } of rows) {
    const before = headOf(books, agent_id);
    const times = { at: iso(last_at.getTime()), first_at: iso(first_at.getTime()), count };
    const { head, event } = appendEvent(
      before,
      { kind, seq, task_id, body: { ...times, ...body } },
      iso(before.now_ms),
    );
    books.set(agent_id, head);
    events.push(event);
  }
  tallyReplays(tx, rows);
  storeBooks(tx, books, events);
  return rows.length;
}

/**
 * Adds replays that are recorded as events to the replay count of their rows. Replays that are only counted so far are added when a
 * row is read.
 */
export function tallyReplays(
  tx: Tx,
  counts: readonly Pick<RepeatCount, 'agent_id' | 'seq' | 'kind' | 'count'>[],
): void {
  const replays = counts.filter(({ kind }) => kind === 'replay');
  if (replays.length === 0) return;
  tx.write({
    name: 'tally replays',
    text: `update book_row r set replay_count = replay_count + n.count
      from jsonb_to_recordset($1::jsonb) as n(agent_id int, seq int, count int)
      where r.agent_id = n.agent_id and r.seq = n.seq`,
    values: [JSON.stringify(replays.map(({ agent_id, seq, count }) => ({ agent_id, seq, count })))],
  });
}

/** Deletes the counts of past hours. Every process runs this, and each count is deleted by one of them. */
export async function forgetHours(database: Pick<Database, 'query'>): Promise<void> {
  for (const [table, key] of hours) {
    const text = `delete from ${table} where (${key}) in (select ${key} from ${table}
      where hour < date_trunc('hour', now(), 'UTC') limit $1 for update skip locked) returning 1`;
    const limit = limits.counted_per_transaction_max;
    while ((await database.query({ name: `forget hours of ${table}`, text, values: [limit] })).length === limit);
  }
}

const hours = [
  ['book_replay_hour', 'agent_id, seq'],
  ['book_blocked_hour', 'agent_id, policy_version, policy_code, intent_id, hour'],
] as const;
