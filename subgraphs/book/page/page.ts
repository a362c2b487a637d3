import type pg from 'pg';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { limits } from '../../../schema/limits.ts';
import { Written } from '../../../schema/written.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import { preparedIfFew, writtenText } from '../../json-sql.ts';
import { BookHead } from '../ledger/book.entity.ts';
import { BookEvent } from '../ledger/event.entity.ts';
import { BookRow } from '../ledger/row.entity.ts';
import { type ReadEvents, shareReads } from './feed.ts';
import { replaysCounted } from './row-json.ts';

/** One entity by one prepared statement; null where there is none. */
export async function bookHead(database: Database, agent_id: AgentId): Promise<BookHead | null> {
  const text = `select ${selectList(database.orm, BookHead)} from book where agent_id = $1`;
  const [row] = await database.query({ name: 'book head', text, values: [agent_id] });
  return row ? asEntity(BookHead, row) : null;
}

/** The intents that a page names, as one JSON text by intent id: counters for the whole book, attempts by index. */
const INTENTS_OF_PAGE = `(select coalesce(json_object_agg(i.intent_id, json_build_object(
      'intent_id', i.intent_id, 'collected_count', i.collected_count, 'blocked_count', i.blocked_count,
      'attempts', (
        select coalesce(json_agg(json_build_object('task_id', r.task_id, 'attempt_index', r.attempt_index,
          'evidence', r.evidence, 'collected', r.collected) order by r.seq), '[]')
        from (select * from book_row where agent_id = $1 and intent_id = i.intent_id order by seq desc limit 200) r)
    )), '{}')::text
    from book_intent i where i.agent_id = $1 and i.intent_id in (
      select intent_id from (select intent_id from book_row where agent_id = $1 order by seq desc limit $2) page))`;

/** What of a book's head a page shows. */
const HEAD_OF_PAGE =
  'agent_id as "agentId", budget_atomic as "budgetAtomic", spent_atomic as "spentAtomic", by_rail as "byRail", damage';

export interface PageHead {
  readonly head: Pick<BookHead, 'agentId' | 'byRail' | 'spentAtomic' | 'budgetAtomic' | 'remainingAtomic' | 'damage'>;
  readonly intents: Written;
  /** Null where they were not asked for. */
  readonly rows: Written | null;
}

/** What a page says beside its rows, and these too where there is an SQL expression for them; null where there is no such book. */
export async function pageHead(
  database: Database,
  agent_id: AgentId,
  limit: number,
  rows_text: string | null,
): Promise<PageHead | null> {
  const statement = pageStatement(agent_id, limit, rows_text);
  const [found] = await database.query<{ intents: string; rows: string | null }>(statement);
  if (!found) return null;
  const { intents, rows } = found;
  return {
    head: asEntity(BookHead, found),
    intents: new Written(intents),
    rows: rows === null ? null : writtenText(rows),
  };
}

type Prepared = ReturnType<typeof preparedIfFew>;
const usual = new Map<string | null, Prepared>();
const others = new Map<string | null, Prepared>();

/**
 * The usual limit stands in the text: of one that is a parameter Postgres assumes a tenth of the book, and so plans the
 * pages of a long one anew each time (measured: 1.7 ms instead of 0.7 ms).
 */
function pageStatement(agent_id: AgentId, limit: number, rows_text: string | null): pg.QueryConfig {
  if (limit !== limits.book_page_rows_default)
    return { ...pageText(others, rows_text, '$2'), values: [agent_id, limit] };
  return { ...pageText(usual, rows_text, String(limit)), values: [agent_id] };
}

function pageText(known: Map<string | null, Prepared>, rows_text: string | null, limit: string): Prepared {
  const found = known.get(rows_text);
  if (found) return found;
  const text = `select ${HEAD_OF_PAGE}, ${INTENTS_OF_PAGE} as intents, ${rows_text} as rows from book where agent_id = $1`;
  const prepared = preparedIfFew(text.replaceAll('$2', limit));
  // Those that have a name are few.
  if (prepared.name) known.set(rows_text, prepared);
  return prepared;
}

/** The newest rows first, by seq: a keyset, so the page costs the same at any depth. */
export async function newestRows(database: Database, agent_id: AgentId, limit: number): Promise<BookRow[]> {
  const text = `${rowsOfBook(database)} order by seq desc limit $2`;
  const rows = await database.query<CountedRow>({ name: 'newest rows', text, values: [agent_id, limit] });
  return rows.map(asRow);
}

/** Those of book $1. */
const rowsOfBook = ({ orm }: Database) =>
  `select ${selectList(orm, BookRow)}, coalesce(c.count, 0) as counted
    from book_row left join ${replaysCounted('$1')} c using (seq) where agent_id = $1`;

interface CountedRow extends Record<string, unknown> {
  readonly replayCount: number;
  readonly counted: number;
}

function asRow({ counted, ...row }: CountedRow): BookRow {
  return asEntity(BookRow, { ...row, replayCount: row.replayCount + counted });
}

/** Events after a position, oldest first, each with its row as it stands now. */
async function eventsAfter(database: Database, agent_id: number, after: number, limit: number): Promise<BookEvent[]> {
  const text = `select ${selectList(database.orm, BookEvent)},
      (select damage is not null from book where agent_id = $1) as damaged
    from book_event where agent_id = $1 and position > $2 order by position limit $3`;
  const found = await database.query<{ damaged: boolean }>({
    name: 'events after',
    text,
    values: [agent_id, after, limit],
  });
  const events = found.map(({ damaged, ...event }) => {
    if (damaged) throw new Refusal('book_damaged');
    return asEntity(BookEvent, event);
  });
  const rows = await rowsBySeq(database, agent_id, [...new Set(events.map(event => event.seq))]);
  for (const event of events) event.row = rows.get(event.seq) as BookRow;
  return events;
}

async function rowsBySeq(database: Database, agent_id: number, seqs: readonly number[]): Promise<Map<number, BookRow>> {
  if (seqs.length === 0) return new Map();
  const text = `${rowsOfBook(database)} and seq = any($2)`;
  const rows = await database.query<CountedRow>({ name: 'rows by seq', text, values: [agent_id, seqs] });
  return new Map(rows.map(asRow).map(row => [row.seq, row]));
}

/** The reader of live feeds, for one process: equal reads that overlap are one. */
export function openBookEvents(database: Database): ReadEvents<BookEvent> {
  return shareReads((agent_id, after, limit) => eventsAfter(database, agent_id, after, limit));
}
