import type { Database } from '../../database.ts';
import { STANDING } from '../post/post.entity.ts';
import type { BoardEntry, BoardEntryKind } from './entry.type.ts';

/** A table whose rows are entries, each expression over one of them. */
interface EntrySource {
  readonly kind: BoardEntryKind;
  readonly table: string;
  readonly id: string;
  readonly host: string;
  readonly outcome: string;
  readonly text: string;
  /** Whether it is shown at all. */
  readonly shown: string;
  /** What it is searched by; as the indexes of BoardSearch have it. */
  readonly words: string;
  /** Where it is shown. */
  readonly path: string;
}

/** The ids of both are one time-ordered name behind a prefix, that of the stamp's task: their order is that of the board. */
const sources: readonly EntrySource[] = [
  {
    kind: 'post',
    table: 'board_post',
    id: 'post_id',
    host: 'endpoint_host',
    outcome: 'outcome',
    text: `coalesce(untrusted_text, '')`,
    shown: STANDING,
    words: 'board_words(endpoint_host, untrusted_text)',
    path: '/v1/board/posts/',
  },
  {
    kind: 'job',
    table: 'board_job',
    id: 'job_id',
    host: 'null',
    outcome: 'null',
    text: 'untrusted_text',
    shown: 'true',
    words: `board_words(null, untrusted_text || ' ' || coalesce(untrusted_acceptance_test, ''))`,
    path: '/v1/board/jobs/',
  },
];

/** An entry, and what it is called behind its prefix: entries are in the order of that, newest first. */
export interface NamedEntry extends BoardEntry {
  readonly name: string;
}

/**
 * One statement for the newest entries of all tables, of each of them no more than are asked for, by its index. `where`: which
 * of them, by an expression over `words`; $1: how many, $2: behind which name (null: from the newest on), and what the
 * expression uses after them.
 */
export function newestEntries(where: (words: string) => string = () => 'true'): string {
  const pages = sources.map(
    ({ kind, table, id, host, outcome, text, shown, words }) => `(
      select '${kind}' as kind, ${id} as id, substr(${id}, ${kind.length + 2}) as name, posted_at as "postedAt",
        ${host}::text as "endpointHost", ${outcome}::text as outcome, ${text} as "untrustedText"
      from ${table} where ${shown} and ($2::text is null or ${id} < '${kind}_' || $2) and ${where(words)}
      order by ${id} desc limit $1)`,
  );
  return `select * from (${pages.join(' union all ')}) entry order by name desc limit $1`;
}

/** Of rows that `newestEntries` has found. */
export function entriesOf(found: readonly object[], base_url: string): NamedEntry[] {
  return (found as readonly Omit<NamedEntry, 'url'>[]).map(entry => {
    const path = sources.find(({ kind }) => kind === entry.kind)?.path ?? '/';
    return { ...entry, url: base_url + path + entry.id };
  });
}

const NEWEST = newestEntries();

/** The newest of all. */
export async function readNewest(database: Database, base_url: string, limit: number): Promise<NamedEntry[]> {
  const found = await database.query({ name: 'newest board entries', text: NEWEST, values: [limit, null] });
  return entriesOf(found, base_url);
}
