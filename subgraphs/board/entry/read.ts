import type { Database } from '../../database.ts';
import type { BoardEntry } from './entry.type.ts';
import { entryColumns, entrySources } from './sources.ts';

/** An entry, and its id without the prefix, by which entries are sorted, newest first. */
export interface NamedEntry extends BoardEntry {
  readonly name: string;
}

/** Entries from rows that have their members. */
export function entriesOf(found: readonly object[], base_url: string): NamedEntry[] {
  return (found as readonly Omit<NamedEntry, 'url'>[]).map(entry => {
    const path = entrySources.find(({ kind }) => kind === entry.kind)?.path ?? '/';
    return { ...entry, url: base_url + path + entry.id };
  });
}

/** One statement for the newest of all tables, reading no more rows of each than requested, by its index. */
const pages = entrySources.map(
  source =>
    `(select ${entryColumns(source)} from ${source.table} where ${source.shown} order by ${source.id} desc limit $1)`,
);
const NEWEST = `select * from (${pages.join(' union all ')}) entry order by name desc limit $1`;

/** The newest entries of all kinds. */
export async function readNewest(database: Database, base_url: string, limit: number): Promise<NamedEntry[]> {
  const found = await database.query({ name: 'newest board entries', text: NEWEST, values: [limit] });
  return entriesOf(found, base_url);
}
