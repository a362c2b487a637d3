import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import { exportLimits } from '../../../schema/limits.ts';
import type { Database } from '../../database.ts';
import { Semaphore } from '../../semaphore.ts';
import { replaysCounted } from '../page/row-json.ts';
import { rowTests, seqsFrom, seqsTo } from '../page/row-scope.ts';
import { BASE_URL } from './cells.ts';
import type { ExportFilter } from './publish.ts';

/* Reads the matching rows of a book page by page by seq, which has no gaps, so that no cursor is held for a slow reader. */

/** Part of a book to read: the rows after one seq, up to the last row at the start. */
export interface BookSpan {
  readonly agent_id: AgentId;
  /** Seq of the last row that the reader has. */
  readonly after: number;
  /** No row up to this seq matches. It is `after`, or the seq before the first possible row of the requested time. */
  readonly begins_after: number;
  readonly last_seq: number;
  readonly filter: ExportFilter;
  /** Number of matching rows at the start. With an evidence filter it may change during the read. */
  readonly rows_total: number;
}

/**
 * Finds the part of a book to read, and counts its matching rows. `left` aborts when the reader leaves.
 * @throws forbidden if the book does not exist; book_damaged; unavailable
 */
export async function spanOf(
  database: Database,
  agent_id: AgentId,
  after: number,
  filter: ExportFilter = {},
  left?: AbortSignal,
): Promise<BookSpan> {
  const values: unknown[] = [agent_id];
  const moment = (at: Date | null | undefined) => (at ? `$${values.push(at.toISOString())}` : null);
  const [from, to] = [moment(filter.from), moment(filter.to)];
  // `first` and `last` are null if no row is in the requested time.
  const [first, last] = [from === null ? '1' : seqsFrom(from), to === null ? 'seq' : seqsTo(to)];
  const [head] = await database.query<{ seq: number; first: number | null; last: number | null; damaged: boolean }>({
    name: ['export span', from && 'from', to && 'to'].filter(Boolean).join(' '),
    text: `select seq, ${first} as first, ${last} as last, damage is not null as damaged from book where agent_id = $1`,
    values,
  });
  if (!head) throw new Refusal('forbidden');
  if (head.damaged) throw new Refusal('book_damaged');
  const begun = Math.min(after, head.seq);
  const begins_after = Math.max(begun, (head.first ?? head.seq + 1) - 1);
  const last_seq = Math.max(begun, Math.min(head.seq, head.last ?? 0));
  const span = { agent_id, after: begun, begins_after: Math.min(begins_after, last_seq), last_seq, filter };
  return { ...span, rows_total: await rowsIn(database, span, left) };
}

/**
 * Counts matching rows in steps. Each step takes its turn among the pages of all streams. Counting costs a thirtieth of reading.
 */
async function rowsIn(
  database: Database,
  span: Omit<BookSpan, 'rows_total'>,
  left: AbortSignal | undefined,
): Promise<number> {
  const { agent_id, begins_after, last_seq, filter } = span;
  if (!isNarrowed(filter)) return last_seq - begins_after;
  let counted = 0;
  for (let after = begins_after; after < last_seq; after += exportLimits.counted_seqs) {
    const values: unknown[] = [agent_id, after, Math.min(after + exportLimits.counted_seqs, last_seq)];
    const name = `export count${shapeOf(filter)}`;
    const text = `select count(*)::int as rows from book_row
      where agent_id = $1 and seq > $2 and seq <= $3${filterConditions(filter, values)}`;
    const [found] = await inTurn(agent_id, () => database.query<{ rows: number }>({ name, text, values }), left);
    counted += found?.rows ?? 0;
  }
  return counted;
}

function isNarrowed(filter: ExportFilter): boolean {
  return shapeOf(filter) !== '';
}

/** SQL conditions of a filter. Their values are appended to `values`. */
export function filterConditions(filter: ExportFilter, values: unknown[]): string {
  return rowTests(filter, value => `$${values.push(value)}`)
    .map(test => ` and ${test}`)
    .join('');
}

/** Suffix of a statement's name for the conditions of a filter, so that statements with the same name have the same text. */
export function shapeOf(filter: ExportFilter): string {
  const names = Object.entries(filter).filter(([, value]) => (value ?? null) !== null);
  return names
    .map(([name]) => ` by ${name}`)
    .sort()
    .join('');
}

/** Matching rows of one page as text. `to` is the last seq of the page. */
export interface TextPage {
  readonly text: string;
  readonly rows: number;
  readonly to: number;
}

/** All streams take turns in reading, so that connections are left for paying requests. */
const turns = new Semaphore({
  at_once_max: exportLimits.pages_read_at_once_max,
  wait_ms_max: exportLimits.page_wait_ms_max,
  waiting_per_asker_max: 2 * exportLimits.streams_per_book_max,
});

/**
 * Reads matching rows as pages of text. Each row is written by `line` (an SQL expression over `book_row r` and its counts `c`), and
 * rows are joined by `separator`.
 */
export function textPages(
  database: Database,
  span: BookSpan,
  made: { readonly name: string; readonly line: string; readonly separator: string; readonly base_url: string },
): AsyncGenerator<TextPage> {
  const line = made.line.replaceAll(BASE_URL, '$2::text');
  return readAhead(span, RESUME, async (after, to) => {
    const values: unknown[] = [span.agent_id, made.base_url, after, to];
    const text = `select string_agg(${line}, ${made.separator} order by r.seq) as page, count(*)::int as rows
      from (select * from book_row where agent_id = $1 and seq > $3 and seq <= $4${filterConditions(span.filter, values)}) r
      left join ${replaysCounted('$1')} c using (seq)`;
    const name = `export ${made.name}${shapeOf(span.filter)}`;
    const [found] = await database.query<{ page: string | null; rows: number }>({ name, text, values });
    return { text: found?.page ?? '', rows: found?.rows ?? 0, to };
  });
}

/**
 * Runs a statement of a stream when it is the turn of its book, unless the reader has left.
 * @throws unavailable
 */
export async function inTurn<T>(agent_id: AgentId, read: () => Promise<T>, left?: AbortSignal): Promise<T> {
  const found = await turns.take(String(agent_id), async () => ({ read: await read() }), left);
  if (left?.aborted) throw new Refusal('unavailable', { detail: 'The client has closed the connection.' });
  if (!found) throw new Refusal('unavailable', { detail: 'Too many exports are running. Try again later.' });
  return found.read;
}

/** Reads one page ahead, so at most two pages are in memory. `too_many` is the text of the refusal if no turn comes in time. */
export async function* readAhead<T extends object>(
  { agent_id, begins_after, last_seq }: BookSpan,
  too_many: string,
  read: (after: number, to: number) => Promise<T>,
): AsyncGenerator<T> {
  const begin = (from: number) => {
    const page = turns.take(String(agent_id), () => read(from, Math.min(from + exportLimits.page_rows, last_seq)));
    // A page may fail after the reader has left, and then its promise is not awaited.
    page.catch(() => {});
    return page;
  };
  const ahead: Promise<T | null>[] = [];
  for (let from = begins_after; from < last_seq || ahead.length > 0; ) {
    while (ahead.length < PAGES_AHEAD && from < last_seq) {
      ahead.push(begin(from));
      from += exportLimits.page_rows;
    }
    const page = await ahead.shift();
    if (!page) throw new Refusal('unavailable', { detail: too_many });
    yield page;
  }
}
const PAGES_AHEAD = 2;
const RESUME = 'Too many exports are running. Resume later with `after` set to the seq of the last row received.';
