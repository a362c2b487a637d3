import type { AtomicAmount } from '../../../schema/amount.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { RawJson } from '../../../schema/json-text.ts';
import { alertLimits, rowLimits } from '../../../schema/limits.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import { preparedIfFew, writtenText } from '../../json-sql.ts';
import { type ReadEvents, shareReads } from '../../live-feed.ts';
import { type AlertEvent, type ShownAlert, shownAlert } from '../alerts/alert.type.ts';
import { BookHead } from '../ledger/book.entity.ts';
import { BookEvent } from '../ledger/event.entity.ts';
import { BookRow } from '../ledger/row.entity.ts';
import { SESSION_OF_ROW } from '../ledger/session-of-row.ts';
import { parentRefOf } from '../lineage/parent.ts';
import { CORRECTIONS_COUNT, INFLOW_CORRECTIONS, MERGED_BY, ofPage, replaysCounted } from './row-json.ts';
import type { RowScope } from './row-scope.ts';
import { type BookSpending, SPENDING_COLUMNS, type SpendingCounters, spendingOf } from './spending.ts';

/** Reads the head of a book by one prepared statement. Null if the book does not exist. */
export async function bookHead(database: Database, agent_id: AgentId): Promise<BookHead | null> {
  const text = `select ${selectList(BookHead)} from book where agent_id = $1`;
  const [row] = await database.query({ name: 'book head', text, values: [agent_id] });
  return row ? asEntity(BookHead, row) : null;
}

/**
 * Reads the head of a book before its content is returned. Null if the book does not exist.
 * @throws Refusal book_damaged if the audit has closed the book
 */
export async function soundHead(database: Database, agent_id: AgentId): Promise<BookHead | null> {
  const head = await bookHead(database, agent_id);
  if (head?.damage) throw new Refusal('book_damaged');
  return head;
}

const ATTEMPTS_MAX = rowLimits.attempts_shown_max;

/** SQL of the intents of a page as one JSON text by intent id: counters for the whole book, and its newest attempts. */
const INTENTS_OF_PAGE = `(select coalesce(json_object_agg(i.intent_id, json_build_object(
      'intent_id', i.intent_id, 'collected_count', i.collected_count, 'blocked_count', i.blocked_count,
      'attempts', a.attempts, 'attempts_truncated', a.truncated)), '{}')::text
    from book_intent i cross join lateral (
      select count(*) > ${ATTEMPTS_MAX} as truncated,
        coalesce(json_agg(json_build_object('task_id', r.task_id, 'attempt_index', r.attempt_index,
          'evidence', r.evidence, 'collected', r.collected) order by r.seq) filter (where nth <= ${ATTEMPTS_MAX}), '[]') as attempts
      from (select *, row_number() over (order by seq desc) as nth from book_row
        where agent_id = $1 and intent_id = i.intent_id order by seq desc limit ${ATTEMPTS_MAX + 1}) r) a
    where i.agent_id = $1 and i.intent_id in (
      select intent_id from (:rows) page))`;

/** Columns of the head that a page shows. */
const HEAD_OF_PAGE = `agent_id as "agentId", seq, ${SPENDING_COLUMNS}, by_rail as "byRail", damage, hour_start as "hourStart", hour_atomic as "hourAtomic", alert_state as "alertState",
  floor(extract(epoch from clock_timestamp()) * 1000)::int8 as now_ms`;

/** SQL of the newest alerts of book $1. Most books have sent none, and then no events are searched. */
const ALERTS_OF_PAGE = `case when alert_state ? 'told' then (
    select coalesce(json_agg(json_build_object('position', position, 'seq', seq, 'taskId', task_id, 'body', body,
      'at', at) order by position desc), '[]')
    from (select * from book_event where agent_id = $1 and kind = 'alert' order by position desc
      limit ${alertLimits.alerts_shown_max}) newest) else '[]' end`;

export interface PageHead {
  readonly head: Pick<
    BookHead,
    'agentId' | 'seq' | 'byRail' | 'spentAtomic' | 'budgetAtomic' | 'damage' | 'hourStart' | 'hourAtomic' | 'alertState'
  >;
  readonly spending: BookSpending;
  /** Sum in atomic USDC of the rows whose transfer has not been seen yet. */
  readonly unseen_atomic: AtomicAmount;
  /** Time by the clock of the database. */
  readonly now_ms: number;
  readonly intents: RawJson;
  readonly alerts: readonly ShownAlert[];
  /** Null if the rows were not requested. */
  readonly rows: RawJson | null;
}

interface FoundPage extends SpendingCounters, Record<string, unknown> {
  readonly now_ms: number;
  readonly intents: string;
  readonly rows: string | null;
  readonly alerts: readonly (Omit<AlertEvent, 'at'> & { readonly at: string })[];
}

/** Reads the head of a page, and its rows if `rows_text` is the SQL for them. Null if the book does not exist. */
export async function pageHead(
  database: Database,
  scope: RowScope,
  rows_text: string | null,
): Promise<PageHead | null> {
  const statement = { ...pageText(scope, rows_text), values: [...scope.values] };
  const [found] = await database.query<FoundPage>(statement);
  if (!found) return null;
  const { intents, rows, alerts, now_ms, unseenAtomic, ...head } = found;
  return {
    head: asEntity(BookHead, head),
    spending: spendingOf({ ...head, unseenAtomic }),
    unseen_atomic: unseenAtomic,
    now_ms,
    intents: new RawJson(intents),
    alerts: alerts.map(({ at, ...event }) => shownAlert({ ...event, at: new Date(at) })),
    rows: rows === null ? null : writtenText(rows),
  };
}

type Prepared = ReturnType<typeof preparedIfFew>;
/** Prepared statements by the SQL of the page's rows, then by the SQL of the selected fields. */
const prepared = new Map<string, Map<string | null, Prepared>>();

function pageText(scope: RowScope, rows_text: string | null): Prepared {
  const known = prepared.get(scope.select) ?? new Map<string | null, Prepared>();
  const found = known.get(rows_text);
  if (found) return found;
  const text = `select ${HEAD_OF_PAGE}, ${INTENTS_OF_PAGE} as intents, ${ALERTS_OF_PAGE} as alerts,
    ${rows_text} as rows from book where agent_id = $1`;
  const statement = preparedIfFew(ofPage(text, scope));
  // Only statements with a name are kept, because there are few of them.
  if (statement.name) prepared.set(scope.select, known.set(rows_text, statement));
  return statement;
}

/** Reads the rows of a page, newest first. */
export async function rowsOf(database: Database, scope: RowScope): Promise<BookRow[]> {
  const text = `${rowsFrom(`(${scope.select}) r`)} where agent_id = $1 order by seq desc`;
  const rows = await database.query<CountedRow>({ ...preparedIfFew(text), values: [...scope.values] });
  return rows.map(asRow);
}

/** SQL that reads rows of book $1. */
const rowsFrom = (rows: string) =>
  `select ${selectList(BookRow)}, coalesce(c.count, 0) as counted, ${INFLOW_CORRECTIONS} as "inflowCorrections",
    ${CORRECTIONS_COUNT} as "inflowCorrectionsCount", ${MERGED_BY} as "mergedBy",
    ${SESSION_OF_ROW} as "delegationHash", ${parentRefOf('r')} as follows
    from ${rows} left join ${replaysCounted('$1')} c using (seq)`;

interface CountedRow extends Record<string, unknown> {
  readonly replayCount: number;
  readonly counted: number;
  readonly follows: string | null;
}

function asRow({ counted, follows, ...row }: CountedRow): BookRow {
  return asEntity(BookRow, { ...row, replayCount: row.replayCount + counted, parentRef: follows });
}

/** Events after a position, oldest first, each with its current row. */
async function eventsAfter(database: Database, agent_id: number, after: number, limit: number): Promise<BookEvent[]> {
  const text = `select ${selectList(BookEvent)},
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
  const seqs = events.flatMap(({ seq }) => seq ?? []);
  const rows = await rowsBySeq(database, agent_id, [...new Set(seqs)]);
  for (const event of events) event.row = event.seq === null ? null : (rows.get(event.seq) as BookRow);
  return events;
}

async function rowsBySeq(database: Database, agent_id: number, seqs: readonly number[]): Promise<Map<number, BookRow>> {
  if (seqs.length === 0) return new Map();
  const text = `${rowsFrom('book_row r')} where agent_id = $1 and seq = any($2)`;
  const rows = await database.query<CountedRow>({ name: 'rows by seq', text, values: [agent_id, seqs] });
  return new Map(rows.map(asRow).map(row => [row.seq, row]));
}

/** Opens the reader of live feeds, of which a process has one. Equal concurrent reads are shared. */
export function openBookEvents(database: Database): ReadEvents<number, BookEvent> {
  return shareReads((agent_id, after, limit) => eventsAfter(database, agent_id, after, limit));
}
