import type { JsonObject } from '../../../schema/canonical-json.ts';
import { exportLimits } from '../../../schema/limits.ts';
import type { JournalFormat, JournalUnit } from '../../../schema/requests/export.ts';
import type { AccountNames } from '../../../schema/requests/journal-accounts.ts';
import type { Database } from '../../database.ts';
import { type SpentRow, spendKind, spentColumns, spentNames } from '../ledger/spend-kind.ts';
import { factText } from '../page/row-json.ts';
import { journalCsv, journalCsvHead, journalWords, ledgerHead, ledgerJournal, type Spend } from './journal.ts';
import { type BookSpan, filterConditions, inTurn, readAhead, shapeOf } from './pages.ts';
import { filtersOf, progressAfter, progressFrom, type StreamedPiece, type StreamSource, textPiece } from './stream.ts';

/** Head of each format, and the function that writes its entries. */
const writers: Readonly<
  Record<
    JournalFormat,
    {
      head(filters: JsonObject, names: AccountNames): string;
      write(spends: readonly Spend[], names: AccountNames): string;
    }
  >
> = {
  csv: { head: () => journalCsvHead, write: journalCsv },
  ledger: { head: ledgerHead, write: ledgerJournal },
};

interface SpendPage {
  readonly spends: readonly Spend[];
  /** Number of matching rows, including those without an amount, which are in no entry. */
  readonly rows: number;
  readonly to: number;
}

const readers: Readonly<Record<JournalUnit, (database: Database, span: BookSpan) => AsyncIterable<SpendPage>>> = {
  async *row(database, span) {
    for await (const { found, rows, to } of pagesOf<RowSpend>(database, span, PER_ROW))
      yield { spends: found.map(entryOfRow), rows, to };
  },
  /** A day may be on several pages, so all entries are written at the end and are in memory until then. */
  async *day(database, span) {
    const days = new Map<string, DaySpend>();
    for await (const { found, rows, to } of pagesOf<DaySpend>(database, span, PER_DAY)) {
      for (const one of found) {
        const name = JSON.stringify([one.day, one.rail, one.status, spendKind(one)]);
        const before = days.get(name);
        days.set(name, before ? together(before, one) : one);
      }
      yield { spends: [], rows, to };
    }
    const inOrder = [...days.values()].sort((a, b) => (a.day === b.day ? a.first - b.first : a.day < b.day ? -1 : 1));
    yield { spends: inOrder.map(one => entryOfDay(one, span)), rows: 0, to: span.last_seq };
  },
};

/**
 * Journal of the spending of all matching rows by double entry, oldest first, followed by the reversals. Each entry has the date at
 * which it happened, and this date decides whether it is in the requested time.
 */
export async function* bookJournal(
  { database, span }: StreamSource,
  format: JournalFormat,
  unit: JournalUnit,
  names: AccountNames,
): AsyncGenerator<StreamedPiece> {
  const { head, write } = writers[format];
  let done = progressFrom(span);
  yield textPiece(done, head(filtersOf(span).filters ?? {}, names));
  for await (const { spends, rows, to } of readers[unit](database, span)) {
    done = progressAfter(done, rows, to);
    yield textPiece(done, write(spends, names));
  }
}

interface Entry extends Pick<Spend, 'status' | 'day' | 'rail' | 'amount'>, SpentRow {}

interface RowSpend extends Entry, Pick<Spend, 'reference' | 'payment_ref'> {
  readonly model: string | null;
  readonly hub: string | null;
  readonly answered_model: string | null;
}

/** All rows of one day, rail, status and kind. */
interface DaySpend extends Entry {
  readonly spends: number;
  readonly first: number;
  readonly last: number;
}

function entryOfRow(row: RowSpend): Spend {
  const kind = spendKind(row);
  return { ...row, kind, memo: journalWords.row({ ...row, kind }) };
}

function entryOfDay(day: DaySpend, { agent_id }: BookSpan): Spend {
  const kind = spendKind(day);
  const memo = journalWords.day({ status: day.status, kind, rows: day.spends });
  return { ...day, kind, memo, reference: `book ${agent_id} rows ${day.first}-${day.last}`, payment_ref: null };
}

const together = (one: DaySpend, other: DaySpend): DaySpend => ({
  ...one,
  amount: one.amount + other.amount,
  spends: one.spends + other.spends,
  first: Math.min(one.first, other.first),
  last: Math.max(one.last, other.last),
});

/** Columns and grouping of the entries `s` of a page. Rows without an amount have no entry, but are counted as rows. */
interface PerUnit {
  readonly name: JournalUnit;
  readonly columns: string;
  readonly group: string;
}
const PER_ROW: PerUnit = {
  name: 'row',
  columns: `status, day, rail, amount, ${spentNames}, model, hub, answered_model, reference, payment_ref, 1 as rows, seq as last`,
  group: 'order by seq',
};
const PER_DAY: PerUnit = {
  name: 'day',
  columns: `status, day, rail, sum(amount) as amount, ${spentNames}, count(*)::int as rows, count(amount)::int as spends,
    min(seq) as first, max(seq) as last`,
  group: `group by status, day, rail, amount is null, ${spentNames} order by day, min(seq)`,
};

interface FoundEntry {
  readonly rows: number;
  readonly last: number;
}
type EntryRow<E extends Entry> = Omit<E, 'amount'> & FoundEntry & { readonly amount: E['amount'] | null };

interface EntryPage<E extends Entry> {
  readonly found: readonly E[];
  readonly rows: number;
  readonly to: number;
}

/** Reads the entries of rows, then those of reversals. */
async function* pagesOf<E extends Entry>(
  database: Database,
  span: BookSpan,
  per: PerUnit,
): AsyncGenerator<EntryPage<E>> {
  yield* readAhead(span, AGAIN, async (after, to) => {
    const found = await spends<E>(database, span, per, { after, to });
    return { found: found.filter((one): one is EntryRow<E> & E => one.amount !== null), rows: rowsIn(found), to };
  });
  for (let after = 0, full = true; full; ) {
    const found = await inTurn(span.agent_id, () => reversals<E>(database, span, per, after));
    yield { found, rows: 0, to: span.last_seq };
    after = Math.max(after, ...found.map(({ last }) => last));
    full = rowsIn(found) === exportLimits.page_rows;
  }
}
const AGAIN = 'Too many exports are running. Request the journal again later.';

const rowsIn = (found: readonly FoundEntry[]) => found.reduce((sum, { rows }) => sum + rows, 0);

const dayOf = (at: string) => `to_char(${at} at time zone 'UTC', 'YYYY-MM-DD') as day`;
const OF_ROW = `r.rail, r.model, r.hub, ${factText('answered_model', 'text')} as answered_model, r.task_id as reference, r.payment_ref, r.seq`;

/** SQL of the former amount of a row `r` that was given up, and the time when it was given up. No result for other rows. */
const GIVEN_UP = `lateral (select (e.body->'born'->>'amount')::numeric as amount, e.at from book_event e
    where r.arrival_status = 'unverified' and r.amount is null and e.agent_id = r.agent_id and e.seq = r.seq
      and e.kind = 'transition' and e.body->>'amount' is null and e.body->'born'->>'amount' is not null
    order by e.position desc limit 1) given_up`;

/** Reads rows with their amount. A row that was given up has its former amount. */
function spends<E extends Entry>(
  database: Database,
  { agent_id, filter }: BookSpan,
  { name, columns, group }: PerUnit,
  { after, to }: { readonly after: number; readonly to: number },
): Promise<EntryRow<E>[]> {
  const values: unknown[] = [agent_id, after, to];
  return database.query<EntryRow<E> & Record<string, unknown>>({
    name: `spends per ${name}${shapeOf(filter)}`,
    text: `select ${columns} from (
        select ${OF_ROW}, ${dayOf('r.collected_at')}, coalesce(r.amount, given_up.amount) as amount,
          ${spentColumns('coalesce(r.amount, given_up.amount)')},
          case when given_up.amount is not null then 'reversed'
            when r.evidence = 'RECORDED_BY_SETTLE' then 'pending' else 'cleared' end as status
        from (select * from book_row where agent_id = $1 and seq > $2 and seq <= $3${filterConditions(filter, values)}) r
          left join ${GIVEN_UP} on true) s ${group}`,
    values,
  });
}

/** Reads the rows after a seq that were given up in the requested time, whenever they were collected. */
function reversals<E extends Entry>(
  database: Database,
  { agent_id, last_seq, filter: { from, to, ...named } }: BookSpan,
  { name, columns, group }: PerUnit,
  after: number,
): Promise<(E & FoundEntry)[]> {
  const values: unknown[] = [agent_id, after, last_seq, from?.toISOString() ?? null, to?.toISOString() ?? null];
  return database.query<E & FoundEntry & Record<string, unknown>>({
    name: `reversals per ${name}${shapeOf(named)}`,
    text: `select ${columns} from (
        select ${OF_ROW}, ${dayOf('given_up.at')}, given_up.amount, ${spentColumns('given_up.amount')},
          'reversal' as status
        from (select * from book_row where agent_id = $1 and arrival_status = 'unverified' and seq > $2 and seq <= $3${filterConditions(named, values)}) r
          cross join ${GIVEN_UP}
        where ($4::timestamptz is null or given_up.at >= $4) and ($5::timestamptz is null or given_up.at < $5)
        order by r.seq limit ${exportLimits.page_rows}) s ${group}`,
    values,
  });
}
