import type { Database } from '../../database.ts';
import type { Tx } from '../../transaction.ts';
import { type MapPage, SparseMap } from './sparse-map.ts';
import { TotalsAltered } from './stored-check.ts';

/** Name of a map. `payments`: which receipt each payment backs. `books`: the total of each book. */
export type MapName = 'payments' | 'books';

/**
 * Loads the pages of a map that lead to these keys. Each level of pages takes one SQL statement for all keys.
 * @throws TotalsAltered if a page is missing
 */
export async function openMap(
  reads: Pick<Database, 'query'>,
  map: MapName,
  keys: readonly string[],
): Promise<SparseMap> {
  const pages: [string, MapPage][] = [];
  let going = [...new Set(keys)];
  for (let depth = 0; going.length > 0; depth++) {
    const found = await reads.query<{ prefix: string; page: MapPage }>({
      name: 'pages of map',
      text: 'select prefix, page from totals_page where map = $1 and prefix = any($2)',
      values: [map, [...new Set(going.map(key => key.slice(0, depth)))]],
    });
    const here = new Map(found.map(({ prefix, page }) => [prefix, page]));
    // A map without its first page is empty. Any other page must exist, because the page above it names it.
    const missing = depth === 0 ? undefined : going.find(key => !here.has(key.slice(0, depth)));
    if (missing !== undefined) throw new TotalsAltered(`the map of ${map} has no page ${missing.slice(0, depth)}`);
    pages.push(...here);
    going = going.filter(key => {
      const place = here.get(key.slice(0, depth))?.[key.charAt(depth)];
      return place !== undefined && 'page' in place;
    });
  }
  return new SparseMap(pages);
}

/** Writes the changed pages. Returns the root of the map, hex. */
export function storeMap(tx: Tx, name: MapName, map: SparseMap): string {
  const pages = map.store();
  if (pages.length > 0)
    tx.write({
      name: 'store pages of map',
      text: `insert into totals_page (map, prefix, page)
        select $1, p.prefix, p.page from jsonb_to_recordset($2::jsonb) as p(prefix text, page jsonb)
        on conflict (map, prefix) do update set page = excluded.page`,
      values: [name, JSON.stringify(pages)],
    });
  return map.root;
}
