import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { JournalFormat, JournalUnit } from '../../../schema/requests/export.ts';
import type { Database } from '../../database.ts';
import { journalCsv, journalCsvHead, journalWords, ledgerHead, ledgerJournal, type Spend } from './journal.ts';
import { type BookSpan, matching, readAhead, shapeOf } from './pages.ts';
import { begin, filtersOf, passed, type StreamedPiece, type StreamSource, textPiece } from './stream.ts';

/** How each format begins, and how it writes spends. */
const writers: Readonly<
  Record<JournalFormat, { head(filters: JsonObject): string; write(spends: readonly Spend[]): string }>
> = {
  csv: { head: () => journalCsvHead, write: journalCsv },
  ledger: { head: ledgerHead, write: ledgerJournal },
};

interface SpendPage {
  readonly spends: readonly Spend[];
  /** Rows that matched, those without an amount too: they are in no entry. */
  readonly rows: number;
  readonly to: number;
}

const readers: Readonly<Record<JournalUnit, (database: Database, span: BookSpan) => AsyncIterable<SpendPage>>> = {
  row: (database, span) =>
    readAhead(span, async (after, to) => ({ ...(await spendsOfRows(database, span, after, to)), to })),
  async *day(database, span) {
    yield { ...(await spendsOfDays(database, span)), to: span.last_seq };
  },
};

/** The spend of all rows of a book that match by double entry, oldest first. */
export async function* bookJournal(
  { database, span }: StreamSource,
  format: JournalFormat,
  unit: JournalUnit,
): AsyncGenerator<StreamedPiece> {
  const { head, write } = writers[format];
  let done = begin(span);
  yield textPiece(done, head(filtersOf(span).filters ?? {}));
  for await (const { spends, rows, to } of readers[unit](database, span)) {
    done = passed(done, rows, to);
    yield textPiece(done, write(spends));
  }
}

const DAY = `to_char(collected_at at time zone 'UTC', 'YYYY-MM-DD')`;

async function spendsOfRows(
  database: Database,
  { agent_id, filter }: BookSpan,
  after: number,
  to: number,
): Promise<Omit<SpendPage, 'to'>> {
  const values: unknown[] = [agent_id, after, to];
  const rows = await database.query<
    Omit<Spend, 'memo' | 'amount'> & { amount: Spend['amount'] | null; model: string | null; hub: string | null }
  >({
    name: `spends of rows${shapeOf(filter)}`,
    text: `select ${DAY} as day, rail, amount, model, hub, task_id as reference, payment_ref from book_row
      where agent_id = $1 and seq > $2 and seq <= $3${matching(filter, values)} order by seq`,
    values,
  });
  const spends = rows.flatMap(({ model, hub, amount, ...row }) =>
    amount === null ? [] : { ...row, amount, memo: journalWords.row({ model, hub }) },
  );
  return { spends, rows: rows.length };
}

async function spendsOfDays(
  database: Database,
  { agent_id, begins_after, last_seq, filter }: BookSpan,
): Promise<Omit<SpendPage, 'to'>> {
  const values: unknown[] = [agent_id, begins_after, last_seq];
  const days = await database.query<
    Pick<Spend, 'day' | 'rail'> & {
      amount: Spend['amount'] | null;
      rows: number;
      spends: number;
      first: number;
      last: number;
    }
  >({
    name: `spends of days${shapeOf(filter)}`,
    text: `select ${DAY} as day, rail, sum(amount) as amount, count(*)::int as rows, count(amount)::int as spends,
        min(seq) filter (where amount is not null) as first, max(seq) filter (where amount is not null) as last
      from book_row where agent_id = $1 and seq > $2 and seq <= $3${matching(filter, values)}
      group by 1, rail order by 1, min(seq) filter (where amount is not null)`,
    values,
  });
  const spends = days.flatMap(({ day, rail, amount, spends, first, last }) =>
    amount === null
      ? []
      : {
          day,
          rail,
          amount,
          memo: journalWords.day({ rows: spends }),
          reference: `book ${agent_id} rows ${first}-${last}`,
          payment_ref: null,
        },
  );
  return { spends, rows: days.reduce((sum, { rows }) => sum + rows, 0) };
}
