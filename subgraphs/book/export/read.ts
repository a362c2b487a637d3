import type pg from 'pg';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { Evidence } from '../../../schema/evidence.ts';
import type { ExportScope, ScannedUniverse } from '../../../schema/export-coverage.ts';
import { type AgentId, agentId } from '../../../schema/ids.ts';
import type { BookPolicy } from '../../../schema/policy-kinds.ts';
import type { Database } from '../../database.ts';
import { asTime } from '../../json-sql.ts';
import { type FoundMatching, type MatchingRows, matchingOf, matchingText } from '../page/matching.ts';
import { replaysCounted } from '../page/row-json.ts';
import { type Parameter, type RowFilter, rowConditions, rowScope, rowTests, seqBounds } from '../page/row-scope.ts';
import { type BookSpending, SPENDING_COLUMNS, type SpendingCounters, spendingOf } from '../page/spending.ts';
import { BASE_URL, cells } from './cells.ts';
import { jsonLine } from './lines.ts';

/** Source from which an export is read: a transaction or single statements. */
export interface ExportReader {
  query<R extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<{ readonly rows: R[] }>;
}

/** Makes a reader of single statements, each of which has its own snapshot. */
export function readingOf(database: Database): ExportReader {
  return { query: async statement => ({ rows: await database.query(statement) }) };
}

const ROW = jsonLine(cells);

/** Filter of a scope, in the form that pages of a book use. */
function filterOf({ from, to, filters }: ExportScope): RowFilter {
  const { evidence, intent_id, delegation_hash = null } = filters;
  const at = (moment: string | null) => (moment === null ? null : new Date(moment));
  const named = { evidence: evidence as Evidence | null, intentId: intent_id, delegationHash: delegation_hash };
  return { from: at(from), to: at(to), ...named };
}

/** Reads the newest rows of the scope, sorted by collected_at and then task_id, as an export shows them. */
export async function exportedRows(reading: ExportReader, scope: ExportScope, base_url: string): Promise<JsonObject[]> {
  const { select, values } = rowScope(agentId(scope.book_id), { limit: scope.limit, filter: filterOf(scope) });
  const { rows } = await reading.query<{ row: string }>({
    text: `select ${ROW.replaceAll(BASE_URL, `$${values.length + 1}::text`)} as row
      from (${select}) r left join ${replaysCounted('$1')} c using (seq) order by r.collected_at, r.task_id collate "C"`,
    values: [...values, base_url],
  });
  return rows.map(({ row }) => JSON.parse(row) as JsonObject);
}

/** Page of an export and its extent, from one snapshot. */
export interface ExportedPage {
  /** Rows of the page, sorted by collected_at and then task_id. */
  readonly rows: JsonObject[];
  /** Number and sum of all matching rows, regardless of limit and `before`. */
  readonly matching: MatchingRows;
  /** The page has rows older than this seq. Null if it starts with the newest row. */
  readonly before: number | null;
  /** True if a matching row is newer than the page. */
  readonly newer: boolean;
  /** Value of `before` for the next page. Null if no older row matches. */
  readonly next_before: number | null;
}

/** Reads the newest rows of the scope that are older than seq `before`, if this is given. */
export async function exportedPage(
  reading: ExportReader,
  scope: ExportScope,
  before: number | null,
  base_url: string,
): Promise<ExportedPage> {
  const filter = filterOf(scope);
  // One row more than the page is read, to find out whether there are older rows.
  const page = rowScope(agentId(scope.book_id), { limit: scope.limit + 1, before, filter });
  const values = [...page.values, base_url, scope.limit];
  const [url, shown] = [`$${values.length - 1}::text`, `nth <= $${values.length}`];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const matching = matchingText(filter, parameter);
  const newer = before === null ? 'false' : newerText(before, filter, parameter);
  const { rows } = await reading.query<
    FoundMatching & Pick<ExportedPage, 'newer' | 'next_before'> & { rows: string[] }
  >({
    text: `with page as (select *, row_number() over (order by seq desc) as nth from (${page.select}) newest)
      select m.*, case when (select bool_and(${shown}) from page) then null
          else (select min(seq) from page where ${shown}) end as next_before, ${newer} as newer,
        array(select ${ROW.replaceAll(BASE_URL, url)} from page r left join ${replaysCounted('$1')} c using (seq)
          where ${shown} order by r.collected_at, r.task_id collate "C") as rows
      from (${matching}) m`,
    values,
  });
  const [found] = rows;
  if (!found) throw new Error('an aggregate is always one row');
  return {
    rows: found.rows.map(row => JSON.parse(row) as JsonObject),
    matching: matchingOf(found),
    before,
    newer: found.newer,
    next_before: found.next_before,
  };
}

/** SQL condition that a matching row has at least this seq, checked by the index of the page. */
function newerText(before: number, filter: RowFilter, parameter: Parameter): string {
  const { from = null, to = null } = filter;
  const conditions = [...rowTests(filter, parameter), ...seqBounds({ from, to }, parameter)];
  return `exists (select from book_row where ${['agent_id = $1', `seq >= ${parameter(before)}`, ...conditions].join(' and ')})`;
}

/** Reads the rows of these tasks on a book, in the form of an export. */
export async function rowsOfTasks(
  reading: ExportReader,
  agent_id: AgentId,
  task_ids: readonly string[],
  base_url: string,
): Promise<JsonObject[]> {
  const { select, values } = rowScope(agent_id, { limit: task_ids.length, filter: { taskIds: task_ids } });
  const { rows } = await reading.query<{ row: string }>({
    text: `select ${ROW.replaceAll(BASE_URL, `$${values.length + 1}::text`)} as row
      from (${select}) r left join ${replaysCounted('$1')} c using (seq)`,
    values: [...values, base_url],
  });
  return rows.map(({ row }) => JSON.parse(row) as JsonObject);
}

export interface ExportHead {
  readonly policy: BookPolicy;
  readonly damaged: boolean;
  readonly spending: BookSpending;
}

/** Reads the head of a book for an export. Null if the book does not exist. */
export async function exportHead(reading: ExportReader, agent_id: number): Promise<ExportHead | null> {
  const { rows } = await reading.query<Omit<ExportHead, 'spending'> & SpendingCounters>({
    name: 'export head',
    text: `select policy, damage is not null as damaged, ${SPENDING_COLUMNS} from book where agent_id = $1`,
    values: [agent_id],
  });
  const [found] = rows;
  if (!found) return null;
  const { policy, damaged, ...counters } = found;
  return { policy, damaged, spending: spendingOf(counters) };
}

const SHA256 = (text: string) => `encode(sha256(convert_to(${text}, 'UTF8')), 'hex')`;
const COMMITMENT = SHA256(
  `r.task_id||'|'||r.evidence||'|'||coalesce(r.amount::text,'')||'|'||coalesce(r.payment_ref,'')||'|'||btrim(${asTime('r.collected_at')},'"')`,
);

/** Counts and hashes every row of the book in Postgres, in the order that the coverage prescribes. */
export async function scanUniverse(
  reading: ExportReader,
  scope: ExportScope,
  subject_task_id: string | null,
): Promise<ScannedUniverse> {
  const values: unknown[] = [scope.book_id, subject_task_id];
  const matches = rowConditions(filterOf(scope), value => `$${values.push(value)}`);
  const { rows } = await reading.query<ScannedUniverse>({
    text: `select count(*)::int as universe_count, (count(*) filter (where matches))::int as matching_count,
        coalesce(bool_or(task_id = $2), false) as subject_in_universe,
        ${SHA256(`coalesce(string_agg(commitment, E'\\n' order by collected_at, task_id collate "C"), '')`)} as universe_hash
      from (select r.task_id, r.collected_at, ${matches.join(' and ') || 'true'} as matches, ${COMMITMENT} as commitment
        from book_row r where r.agent_id = $1) all_rows`,
    values,
  });
  const [scanned] = rows;
  if (!scanned) throw new Error('an aggregate is always one row');
  return scanned;
}
