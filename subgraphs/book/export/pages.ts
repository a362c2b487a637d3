import { Refusal } from '../../../schema/errors.ts';
import { exportLimits } from '../../../schema/export-limits.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Database } from '../../database.ts';
import { Semaphore } from '../../semaphore.ts';
import { replaysCounted } from '../page/row-json.ts';
import { BASE_URL } from './cells.ts';

/* A whole book, read page by page in the order of seq, which has no gaps: no cursor is held while a slow reader takes it. */

/** What of a book is read: the rows after one seq, up to the last that stood when the reading began. */
export interface BookSpan {
  readonly agent_id: AgentId;
  readonly after: number;
  readonly last_seq: number;
}

/** @throws forbidden where there is no such book; book_damaged */
export async function spanOf(database: Database, agent_id: AgentId, after: number): Promise<BookSpan> {
  const [head] = await database.query<{ seq: number; damaged: boolean }>({
    name: 'export span',
    text: 'select seq, damage is not null as damaged from book where agent_id = $1',
    values: [agent_id],
  });
  if (!head) throw new Refusal('forbidden');
  if (head.damaged) throw new Refusal('book_damaged');
  return { agent_id, after: Math.min(after, head.seq), last_seq: head.seq };
}

/** A page's rows, made one text by an expression over each; `to` is the seq of its last row. */
export interface TextPage {
  readonly text: string;
  readonly to: number;
}

/** Readers of all streams take turns, so that exports leave connections to those who pay. */
const turns = new Semaphore({
  at_once_max: exportLimits.pages_read_at_once_max,
  wait_ms_max: exportLimits.page_wait_ms_max,
  waiting_per_asker_max: 2 * exportLimits.streams_per_book_max,
});

/** Rows of book $1 after $3 up to $4, each by `line` (an expression over `book_row r` and `c`), joined by `separator`. */
export function textPages(
  database: Database,
  span: BookSpan,
  made: { readonly name: string; readonly line: string; readonly separator: string; readonly base_url: string },
): AsyncGenerator<TextPage> {
  const text = `select string_agg(${made.line.replaceAll(BASE_URL, '$2::text')}, ${made.separator} order by r.seq) as page
    from (select * from book_row where agent_id = $1 and seq > $3 and seq <= $4) r
    left join ${replaysCounted('$1')} c using (seq)`;
  return readAhead(span, async (after, to) => {
    const values = [span.agent_id, made.base_url, after, to];
    const [found] = await database.query<{ page: string | null }>({ name: `export ${made.name}`, text, values });
    return { text: found?.page ?? '', to };
  });
}

/** One page is read while the one before it is taken. The longest that this holds are those two. */
export async function* readAhead<T extends object>(
  { agent_id, after, last_seq }: BookSpan,
  read: (after: number, to: number) => Promise<T>,
): AsyncGenerator<T> {
  const begin = (from: number) => {
    const page = turns.take(String(agent_id), () => read(from, Math.min(from + exportLimits.page_rows, last_seq)));
    // It may fail after its reader has left, and nobody waits for it then.
    page.catch(() => {});
    return page;
  };
  const ahead: Promise<T | null>[] = [];
  for (let from = after; from < last_seq || ahead.length > 0; ) {
    while (ahead.length < PAGES_AHEAD && from < last_seq) {
      ahead.push(begin(from));
      from += exportLimits.page_rows;
    }
    const page = await ahead.shift();
    if (!page) throw new Refusal('unavailable', { detail: 'Too much is exported at once. Go on after the last row.' });
    yield page;
  }
}
const PAGES_AHEAD = 2;
