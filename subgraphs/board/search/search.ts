import pg from 'pg';
import type { BoardMatch } from '../../../schema/board/entry.ts';
import { Refusal } from '../../../schema/errors.ts';
import { boardReadLimits } from '../../../schema/limits.ts';
import type { Database } from '../../database.ts';
import { Semaphore } from '../../semaphore.ts';
import { entriesOf, type NamedEntry } from '../entry/read.ts';
import { cursorIn, cursorText, type SearchCursor } from './cursor.ts';
import type { BoardSearchPage } from './search.type.ts';
import { similarityPlace } from './similarity.ts';
import { BY_WORDS, bySimilarity } from './statement.ts';

export interface SearchAsked {
  readonly query: string;
  readonly first?: number | undefined;
  readonly after?: string | undefined;
  /** Who asks: each waits in a line of their own. */
  readonly address: string;
  readonly base_url: string;
}

const turns = new Semaphore({
  at_once_max: boardReadLimits.searches_at_once_max,
  wait_ms_max: boardReadLimits.search_wait_ms_max,
  waiting_per_asker_max: boardReadLimits.searches_waiting_per_asker_max,
});

/**
 * Posts and jobs by their words, newest first. Where none holds them, those that hold words which are alike, if this database
 * can tell in time. Bounded in time, and in how many are under way.
 * @throws Refusal invalid_request; query_too_costly where it takes too long; unavailable where there is no turn
 */
export async function searchBoard(database: Database, asked: SearchAsked): Promise<BoardSearchPage> {
  const limit = Math.min(asked.first ?? boardReadLimits.search_hits_default, boardReadLimits.search_hits_max);
  const cursor = asked.after === undefined ? null : cursorIn(asked.after);
  const words = wordsOf(asked.query);
  const place = await similarityPlace(database);
  const find = (matched: BoardMatch) => findBy(database, matched, place, { words, limit: limit + 1, cursor });
  const found = await turns.take(asked.address, () =>
    cursor === null ? findFirst(find, OPERATED.test(words) ? null : place) : findNext(find, cursor, place),
  );
  if (!found) throw new Refusal('unavailable');
  const entries = entriesOf(found.rows, asked.base_url);
  const matched = entries.length === 0 && cursor === null ? 'words' : found.matched;
  const next = nextOf(entries, limit, matched);
  return { matched, tolerant: found.tolerant, hits: entries.slice(0, limit), next };
}

/** A phrase, or a word to be left out: what is merely alike would be just what was not asked for. */
const OPERATED = /"|(?:^|\s)-\S/;

interface Found {
  readonly matched: BoardMatch;
  readonly rows: readonly object[];
  readonly tolerant: boolean;
}

type Find = (matched: BoardMatch) => Promise<readonly object[]>;

/** That nothing holds the words is an answer, also where looking for misspelt ones would take too long. */
async function findFirst(find: Find, place: string | null): Promise<Found> {
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

async function findNext(find: Find, { matched }: SearchCursor, place: string | null): Promise<Found> {
  return { matched, rows: await find(matched), tolerant: place !== null };
}

function nextOf(entries: readonly NamedEntry[], limit: number, matched: BoardMatch): string | null {
  const last = entries.length > limit ? entries[limit - 1] : undefined;
  return last ? cursorText({ name: last.name, matched }) : null;
}

/** @throws Refusal invalid_request where nothing is left of them */
function wordsOf(query: string): string {
  const words = query.trim();
  // No text in Postgres holds it.
  if (words.includes('\0')) throw new Refusal('invalid_request', { param: 'query', detail: 'query holds a NUL.' });
  if (words.length > 0) return words;
  throw new Refusal('invalid_request', { param: 'query', detail: 'query is blank.' });
}

interface Sought {
  readonly words: string;
  readonly limit: number;
  readonly cursor: SearchCursor | null;
}

/** SQLSTATE query_canceled: what statement_timeout says. */
const QUERY_CANCELED = '57014';
const TOO_LONG = 'The search takes too long: ask for rarer words.';

const READ_ONLY = { read_only: true } as const;

/** Without a name, so that each is planned by how often its own words occur. */
async function findBy(
  database: Database,
  matched: BoardMatch,
  place: string | null,
  { words, limit, cursor }: Sought,
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
