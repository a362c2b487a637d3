import { boardReadLimits } from '../../../schema/limits.ts';
import { type EntrySource, entryColumns, entrySources, olderThanName } from '../entry/sources.ts';

/* How entries are found by their words: $1 how many, $2 behind which name (null: from the newest on), $3 the words. */

type Match = (source: EntrySource) => string;

/** Entries that hold all of the words. */
export const BY_WORDS = searchBy(() => `search_words @@ websearch_to_tsquery('simple', board_words(null, $3))`);

/** @param place the schema of pg_trgm, quoted */
export function bySimilarity(place: string): string {
  return searchBy(({ words }) => `(${words}) operator(${place}.%>) board_words(null, $3)`);
}

function searchBy(match: Match): string {
  const pages = entrySources.map(source => pageOf(source, match(source)));
  return `select * from (${pages.join(' union all ')}) entry order by name desc limit $1`;
}

/**
 * What is met often is met among the newest, and these are read first, so many and no more. Only where they do not fill the
 * page, all that match are read by their index, and put in order then: asked for the newest that match, Postgres would walk
 * back through a whole board for a word that nobody has written.
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
