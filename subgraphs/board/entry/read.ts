import type { Database } from '../../database.ts';
import type { BoardEntry } from './entry.type.ts';
import { entryColumns, entrySources } from './sources.ts';

/** An entry with `name`, its id without the prefix. Entries are sorted by their names, newest first. */
export interface NamedEntry extends BoardEntry {
  readonly name: string;
}

/** Entries from rows that `entryColumns` selected. */
export function entriesOf(found: readonly object[], base_url: string): NamedEntry[] {
  return (found as readonly Omit<NamedEntry, 'url'>[]).map(entry => {
    const path = entrySources.find(({ kind }) => kind === entry.kind)?.path ?? '/';
    return { ...entry, url: base_url + path + entry.id };
  });
}

/** One statement reads the newest entries of all tables. From each table it reads, by index, no more rows than were requested. */
const pages = entrySources.map(
  source =>
    `(select ${entryColumns(source)} from ${source.table} where ${source.shown} order by ${source.id} desc limit $1)`,
);
const NEWEST = `select * from (${pages.join(' union all ')}) entry order by name desc limit $1`;

/** Reads the newest entries of all kinds, newest first. */
export async function readNewest(database: Database, base_url: string, limit: number): Promise<NamedEntry[]> {
  const found = await database.query({ name: 'newest board entries', text: NEWEST, values: [limit] });
  return entriesOf(found, base_url);
}
