import pg from 'pg';
import type { BoardMatch } from '../../../schema/board/entry.ts';
import { Refusal } from '../../../schema/errors.ts';
import { boardReadLimits } from '../../../schema/limits.ts';
import type { Database } from '../../database.ts';
import { Semaphore } from '../../semaphore.ts';
import { entriesOf, type NamedEntry } from '../entry/read.ts';
import { type EntrySource, entryColumns, entrySources, olderThanName } from '../entry/sources.ts';
import type { BoardSearchPage } from './search.type.ts';

interface BoardSearchArguments {
  readonly query: string;
  readonly first?: number | undefined;
  readonly after?: string | undefined;
  /** Address of the caller. The number of searches that wait for a turn is limited for each address. */
  readonly address: string;
  readonly base_url: string;
}

const turns = new Semaphore({
  at_once_max: boardReadLimits.searches_at_once_max,
  wait_ms_max: boardReadLimits.search_wait_ms_max,
  waiting_per_asker_max: boardReadLimits.searches_waiting_per_asker_max,
});

/**
 * Searches posts and jobs by their words, newest first. If no entry contains the words, entries with similar words are returned, if this
 * database can find them in time. Time and concurrency of searches are limited.
 * @throws Refusal invalid_request; query_too_costly if it takes too long; unavailable if no turn came in time
 */
export async function searchBoard(database: Database, asked: BoardSearchArguments): Promise<BoardSearchPage> {
  const limit = Math.min(asked.first ?? boardReadLimits.search_hits_default, boardReadLimits.search_hits_max);
  const cursor = asked.after === undefined ? null : cursorIn(asked.after);
  const words = asked.query.trim();
  const place = await similarityPlace(database);
  const find = (matched: BoardMatch) => findBy(database, matched, place, { words, limit: limit + 1, cursor });
  const similar_at = OPERATED.test(words) ? null : place;
  const found = await turns.take(asked.address, () =>
    cursor === null ? findFirst(find, similar_at) : findNext(find, cursor, similar_at),
  );
  if (!found) throw new Refusal('unavailable');
  const entries = entriesOf(found.rows, asked.base_url);
  const matched = entries.length === 0 && cursor === null ? 'words' : found.matched;
  const next = nextOf(entries, limit, matched);
  return { matched, tolerant: found.tolerant, hits: entries.slice(0, limit), next };
}

/** Matches a search with a phrase or an excluded word. Similar words would contradict such a search. */
const OPERATED = /"|(?:^|\s)-\S/;

interface SearchRows {
  readonly matched: BoardMatch;
  readonly rows: readonly object[];
  readonly tolerant: boolean;
}

type Find = (matched: BoardMatch) => Promise<readonly object[]>;

/** Finds the first page. An empty result is a valid answer, also if a search for similar words would take too long. */
async function findFirst(find: Find, place: string | null): Promise<SearchRows> {
  const rows = await find('words');
  const none = { matched: 'words', rows: [], tolerant: false } as const;
  if (rows.length > 0) return { matched: 'words', rows, tolerant: place !== null };
  if (place === null) return none;
  try {
    return { matched: 'similar', rows: await find('similar'), tolerant: true };
  } catch (error) {
    if (error instanceof Refusal && error.code === 'query_too_costly') return none;
    throw error;
  }
}

async function findNext(find: Find, { matched }: SearchCursor, place: string | null): Promise<SearchRows> {
  return { matched, rows: await find(matched), tolerant: place !== null };
}

function nextOf(entries: readonly NamedEntry[], limit: number, matched: BoardMatch): string | null {
  const last = entries.length > limit ? entries[limit - 1] : undefined;
  return last ? cursorText({ name: last.name, matched }) : null;
}

interface SearchTerms {
  readonly words: string;
  readonly limit: number;
  readonly cursor: SearchCursor | null;
}

/** SQLSTATE query_canceled, which statement_timeout raises. */
const QUERY_CANCELED = '57014';
const TOO_LONG = 'The search takes too long. Use less common words.';

const READ_ONLY = { read_only: true } as const;

/** Runs one search. The statement has no name, so that Postgres plans it each time by the frequency of these words. */
async function findBy(
  database: Database,
  matched: BoardMatch,
  place: string | null,
  { words, limit, cursor }: SearchTerms,
): Promise<readonly object[]> {
  if (matched === 'similar' && place === null) return [];
  const text = matched === 'similar' && place !== null ? bySimilarity(place) : BY_WORDS;
  try {
    return await database.transaction(async tx => {
      await tx.query(`set local statement_timeout = ${boardReadLimits.search_ms_max}`);
      await tx.query(`set local pg_trgm.word_similarity_threshold = ${boardReadLimits.search_similarity_min}`);
      return (await tx.query({ text, values: [limit, cursor?.name ?? null, words] })).rows;
    }, READ_ONLY);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== QUERY_CANCELED) throw error;
    throw new Refusal('query_too_costly', { detail: TOO_LONG });
  }
}

const places = new WeakMap<Database, Promise<string | null>>();

/** Name of the schema of pg_trgm, quoted. Null if the extension or one of its indexes is missing. Read once in a process. */
function similarityPlace(database: Database): Promise<string | null> {
  const known = places.get(database) ?? findPlace(database);
  places.set(database, known);
  // A failed read is not kept, so that the database is queried again after an outage.
  known.catch(() => places.delete(database));
  return known;
}

async function findPlace(database: Database): Promise<string | null> {
  const text = `select quote_ident(nspname) as place from pg_extension join pg_namespace on pg_namespace.oid = extnamespace
    where extname = 'pg_trgm' and to_regclass('board_post_similar') is not null and to_regclass('board_job_similar') is not null`;
  const [found] = await database.query<{ place: string }>({ name: 'place of pg_trgm', text });
  return found?.place ?? null;
}

/** End of a page of a search, and the kind of its matches, so that all pages of a search have the same kind. */
interface SearchCursor {
  readonly matched: BoardMatch;
  /** Name (id without the prefix) of the last entry of the page. */
  readonly name: string;
}

const CURSOR = /^(words|similar):(\w{1,64})$/;

function cursorText({ matched, name }: SearchCursor): string {
  return Buffer.from(`${matched}:${name}`).toString('base64url');
}

/** Reads a cursor. @throws Refusal invalid_request if this service has not made it */
function cursorIn(text: string): SearchCursor {
  const [, matched, name] = CURSOR.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  if (matched === undefined || name === undefined)
    throw new Refusal('invalid_request', {
      param: 'after',
      detail: 'after must be the `next` of an earlier page of this search.',
    });
  return { matched: matched as BoardMatch, name };
}

// In the statements below, $1 is the number of entries, $2 the name after which they begin (null: from the newest on), and $3 the words.

type Match = (source: EntrySource) => string;

/** Statement for the entries that contain all of the words. */
export const BY_WORDS = searchBy(() => `search_words @@ websearch_to_tsquery('simple', board_words(null, $3))`);

/** Statement for the entries with similar words. @param place the schema of pg_trgm, quoted */
function bySimilarity(place: string): string {
  return searchBy(({ words }) => `(${words}) operator(${place}.%>) board_words(null, $3)`);
}

function searchBy(match: Match): string {
  const pages = entrySources.map(source => pageOf(source, match(source)));
  return `select * from (${pages.join(' union all ')}) entry order by name desc limit $1`;
}

/**
 * Statement for the matches in one table. The newest entries are searched first, because frequent words are found among them. Only if they
 * do not fill the page, all matches are read by their index and sorted. Otherwise Postgres would scan the whole board backwards for a word
 * that does not occur.
 */
function pageOf(source: EntrySource, match: string): string {
  const { kind, table, id, shown } = source;
  const standing = `${shown} and ${olderThanName(source)}`;
  return `(
    with newest_${kind} as materialized (
      select ${id} as id from (
        select * from ${table} where ${standing} order by ${id} desc limit ${boardReadLimits.search_newest_first}) newest
      where ${match} order by ${id} desc limit $1),
    every_${kind} as materialized (
      select ${id} as id from ${table} where (select count(*) from newest_${kind}) < $1 and ${standing} and ${match}),
    page_${kind} as materialized (
      (select id from every_${kind} order by id desc limit $1)
      union all select id from newest_${kind} where (select count(*) from newest_${kind}) >= $1)
    select ${entryColumns(source)} from ${table} where ${id} = any(array(select id from page_${kind})))`;
}
