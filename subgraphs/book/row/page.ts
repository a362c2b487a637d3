import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import { BookHead } from './book.entity.ts';
import { BookEvent } from './event.entity.ts';
import { type ReadEvents, shareReads } from './feed.ts';
import { BookRow } from './row.entity.ts';

/** One entity by one prepared statement; null where there is none. */
export async function bookHead(database: Database, agent_id: AgentId): Promise<BookHead | null> {
  const text = `select ${selectList(database.orm, BookHead)} from book where agent_id = $1`;
  const [row] = await database.query({ name: 'book head', text, values: [agent_id] });
  return row ? asEntity(BookHead, row) : null;
}

/** The newest rows first, by seq: a keyset, so the page costs the same at any depth. */
export async function newestRows(database: Database, agent_id: AgentId, limit: number): Promise<BookRow[]> {
  const text = `select ${selectList(database.orm, BookRow)} from book_row where agent_id = $1 order by seq desc limit $2`;
  const rows = await database.query({ name: 'newest rows', text, values: [agent_id, limit] });
  return rows.map(row => asEntity(BookRow, row));
}

/** Events after a position, oldest first, each with its row as it stands now. */
async function eventsAfter(database: Database, agent_id: number, after: number, limit: number): Promise<BookEvent[]> {
  const text = `select ${selectList(database.orm, BookEvent)} from book_event where agent_id = $1 and position > $2
    order by position limit $3`;
  const events = (await database.query({ name: 'events after', text, values: [agent_id, after, limit] })).map(row =>
    asEntity(BookEvent, row),
  );
  const rows = await rowsBySeq(database, agent_id, [...new Set(events.map(event => event.seq))]);
  for (const event of events) event.row = rows.get(event.seq) as BookRow;
  return events;
}

async function rowsBySeq(database: Database, agent_id: number, seqs: readonly number[]): Promise<Map<number, BookRow>> {
  if (seqs.length === 0) return new Map();
  const text = `select ${selectList(database.orm, BookRow)} from book_row where agent_id = $1 and seq = any($2)`;
  const rows = await database.query({ name: 'rows by seq', text, values: [agent_id, seqs] });
  return new Map(rows.map(row => [row.seq, asEntity(BookRow, row)]));
}

/** The newest replays of one row, oldest first, as the specification shows them. */
export async function replaysOf(database: Database, { agentId, seq }: BookRow): Promise<JsonObject[]> {
  const text = `select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at,
      body->>'settlement_status' as settlement_status, body->>'replay_of' as replay_of
    from (select * from book_event where agent_id = $1 and seq = $2 and kind = 'replay' order by position desc limit 200) newest
    order by position`;
  return database.query<{ at: string }>({ name: 'replays of row', text, values: [agentId, seq] });
}

/** The intents that a page names: counters for the whole book, attempts by index. */
export async function intentsOf(
  database: Database,
  agent_id: AgentId,
  entries: readonly BookRow[],
): Promise<JsonObject> {
  const named = [...new Set(entries.flatMap(row => row.intentId ?? []))];
  if (named.length === 0) return {};
  const text = `select i.intent_id, i.collected_count, i.blocked_count, (
      select coalesce(jsonb_agg(jsonb_build_object('task_id', r.task_id, 'attempt_index', r.attempt_index,
        'evidence', r.evidence, 'collected', r.collected) order by r.seq), '[]')
      from (select * from book_row where agent_id = $1 and intent_id = i.intent_id order by seq desc limit 200) r) as attempts
    from book_intent i where i.agent_id = $1 and i.intent_id = any($2)`;
  const intents = await database.query<{ intent_id: string }>({
    name: 'intents of page',
    text,
    values: [agent_id, named],
  });
  return Object.fromEntries(intents.map(intent => [intent.intent_id, intent])) as JsonObject;
}

/** The reader of live feeds, for one process: equal reads that overlap are one. */
export function openBookEvents(database: Database): ReadEvents<BookEvent> {
  return shareReads((agent_id, after, limit) => eventsAfter(database, agent_id, after, limit));
}
