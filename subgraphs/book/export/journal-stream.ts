import type { JournalFormat, JournalUnit } from '../../../schema/requests/export.ts';
import type { Database } from '../../database.ts';
import { journalCsv, journalCsvHead, journalWords, ledgerHead, ledgerJournal, type Spend } from './journal.ts';
import { type BookSpan, readAhead } from './pages.ts';
import { type StreamedPiece, type StreamSource, textPiece } from './stream.ts';

/** How each format begins, and how it writes spends. */
const writers: Readonly<Record<JournalFormat, { readonly head: string; write(spends: readonly Spend[]): string }>> = {
  csv: { head: journalCsvHead, write: journalCsv },
  ledger: { head: ledgerHead, write: ledgerJournal },
};

interface SpendPage {
  readonly spends: readonly Spend[];
  readonly to: number;
}

const readers: Readonly<Record<JournalUnit, (database: Database, span: BookSpan) => AsyncIterable<SpendPage>>> = {
  row: (database, span) =>
    readAhead(span, async (after, to) => ({ spends: await spendsOfRows(database, span, after, to), to })),
  async *day(database, span) {
    yield { spends: await spendsOfDays(database, span), to: span.last_seq };
  },
};

/** A book's spend by double entry, oldest first. */
export async function* bookJournal(
  { database, span }: StreamSource,
  format: JournalFormat,
  unit: JournalUnit,
): AsyncGenerator<StreamedPiece> {
  const { head, write } = writers[format];
  yield textPiece(span, span.after, head);
  for await (const { spends, to } of readers[unit](database, span)) yield textPiece(span, to, write(spends));
}

const DAY = `to_char(collected_at at time zone 'UTC', 'YYYY-MM-DD')`;

async function spendsOfRows(database: Database, { agent_id }: BookSpan, after: number, to: number): Promise<Spend[]> {
  const rows = await database.query<Omit<Spend, 'memo'> & { model: string | null; hub: string | null }>({
    name: 'spends of rows',
    text: `select ${DAY} as day, rail, amount, model, hub, task_id as reference, payment_ref from book_row
      where agent_id = $1 and seq > $2 and seq <= $3 and amount is not null order by seq`,
    values: [agent_id, after, to],
  });
  return rows.map(({ model, hub, ...row }) => ({ ...row, memo: journalWords.row({ model, hub }) }));
}

async function spendsOfDays(database: Database, { agent_id, after, last_seq }: BookSpan): Promise<Spend[]> {
  const days = await database.query<
    Pick<Spend, 'day' | 'rail' | 'amount'> & { rows: number; first: number; last: number }
  >({
    name: 'spends of days',
    text: `select ${DAY} as day, rail, sum(amount) as amount, count(*)::int as rows, min(seq) as first, max(seq) as last
      from book_row where agent_id = $1 and seq > $2 and seq <= $3 and amount is not null
      group by 1, rail order by 1, min(seq)`,
    values: [agent_id, after, last_seq],
  });
  return days.map(({ day, rail, amount, rows, first, last }) => ({
    day,
    rail,
    amount,
    memo: journalWords.day({ rows }),
    reference: `book ${agent_id} rows ${first}-${last}`,
    payment_ref: null,
  }));
}
