import { limits } from '../../../schema/limits.ts';
import { iso } from '../../clock.ts';
import type { Tx } from '../../database.ts';
import { appendEvent, type EventRecord, headOf, lockBooks, storeBooks } from './append.ts';
import type { RowName } from './correct.ts';
import { countRepeats, type RepeatCount, tallyReplays } from './repeated-events.ts';

/**
 * Records that a payment was sent again. No row is added and no seq is taken. Payments are public, so only the first replays of a
 * row in an hour get an event each. The others are counted in the same transaction without locking the head, and become one event a
 * minute. Replays of a receipt without a book are not counted.
 */
export async function replay(tx: Tx, task_ids: readonly string[]): Promise<void> {
  const replayed = await countReplays(tx, task_ids);
  countRepeats(
    tx,
    replayed.flatMap(row => {
      const { agent_id, seq, task_id, now: at } = row;
      const count = row.times - singlesOf(row);
      if (count === 0) return [];
      return [{ agent_id, seq, kind: 'replay' as const, task_id, body: bodyOf(row), count, first_at: at, last_at: at }];
    }),
  );
  await appendSingles(
    tx,
    replayed.filter(row => singlesOf(row) > 0),
  );
}

/** Row whose payment was sent again in this transaction. */
interface Replayed extends RowName {
  readonly times: number;
  /** Number of replays in the current hour of the row, including these. */
  readonly replays: number;
  readonly now: string;
}

/**
 * Counts replays by row and hour. The counter stays locked until the commit, so that the second of two transactions sees the count
 * of the first.
 */
async function countReplays(tx: Tx, task_ids: readonly string[]): Promise<readonly Replayed[]> {
  const { rows } = await tx.query<Omit<Replayed, 'now'> & { now: Date }>({
    name: 'count replays',
    text: `with named as (
        select r.agent_id, r.seq, r.task_id, count(*)::int as times, date_trunc('hour', clock_timestamp(), 'UTC') as hour
        from book_row r join unnest($1::text[]) as n(task_id) using (task_id) group by 1, 2, 3),
      counted as (
        insert into book_replay_hour as h (agent_id, seq, hour, replays)
        select agent_id, seq, hour, times from named order by agent_id, seq
        on conflict (agent_id, seq) do update set hour = greatest(h.hour, excluded.hour),
          replays = excluded.replays + case when excluded.hour > h.hour then 0 else h.replays end
        returning agent_id, seq, replays)
      select agent_id, seq, task_id, times, replays, clock_timestamp() as now
      from named join counted using (agent_id, seq) order by agent_id, seq`,
    values: [task_ids],
  });
  return rows.map(row => ({ ...row, now: iso(row.now.getTime()) }));
}

/** Number of replays in this transaction that get an event each. */
function singlesOf({ times, replays }: Replayed): number {
  const max = limits.replay_events_per_hour_max;
  return Math.min(max, replays) - Math.min(max, replays - times);
}

const bodyOf = ({ task_id }: RowName) => ({ settlement_status: 'idempotent_replay', replay_of: task_id });

async function appendSingles(tx: Tx, replayed: readonly Replayed[]): Promise<void> {
  const books = await lockBooks(
    tx,
    replayed.map(row => row.agent_id),
  );
  const events: EventRecord[] = [];
  for (const row of replayed) {
    const { agent_id, seq, task_id } = row;
    for (let number = 0; number < singlesOf(row); number++) {
      const before = headOf(books, agent_id);
      const { head, event } = appendEvent(
        before,
        { kind: 'replay', seq, task_id, body: bodyOf(row) },
        iso(before.now_ms),
      );
      books.set(agent_id, head);
      events.push(event);
    }
  }
  tallyReplays(
    tx,
    replayed.map(
      (row): Pick<RepeatCount, 'agent_id' | 'seq' | 'kind' | 'count'> => ({
        ...row,
        kind: 'replay',
        count: singlesOf(row),
      }),
    ),
  );
  storeBooks(tx, books, events);
}
