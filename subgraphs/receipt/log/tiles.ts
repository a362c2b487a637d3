import type { Database } from '../../database.ts';

/** Hashes of a whole tile, and levels of the tree that it spans (https://c2sp.org/tlog-tiles). */
export const TILE_WIDTH = 256;
const TILE_HEIGHT = 8;
export const HASH_BYTES = 32;

export interface TileAddress {
  /** From 0, the leaves; each hash of a tile above is the root of a whole one below. */
  readonly level: number;
  readonly index: number;
  /** 256, or less of a partial one. */
  readonly width: number;
}

const INDEX = /^(?:x\d{3}\/){0,2}\d{3}$/;
const PARTIAL = /^(?<index>[^.]+)\.p\/(?<width>[1-9]\d{0,2})$/;

/** The tile that such a path names, `x001/x234/067.p/8`; null where it is none. @param level its own segment */
export function tileAddress(level: string, path: string): TileAddress | null {
  const partial = PARTIAL.exec(path)?.groups;
  const index = partial?.index ?? path;
  const width = partial ? Number(partial.width) : TILE_WIDTH;
  if (!/^(?:\d|[1-5]\d|6[0-3])$/.test(level) || !isIndex(index) || (partial && width >= TILE_WIDTH)) return null;
  return { level: Number(level), index: Number(index.replace(/[x/]/g, '')), width };
}

/** Each index has one spelling: no element before the first that says something. */
function isIndex(text: string): boolean {
  return INDEX.test(text) && !text.startsWith('x000/');
}

/** Its hashes, end to end; null where the log does not hold all of them yet. Such nodes are written once, never changed. */
export async function tile(database: Database, { level, index, width }: TileAddress): Promise<Buffer | null> {
  const from = index * TILE_WIDTH;
  const rows = await database.query<{ hashes: Buffer | null }>({
    name: 'log tile',
    text: `select string_agg(hash, '' order by index) as hashes from log_node
      where level = $1 and index >= $2 and index < $3`,
    values: [level * TILE_HEIGHT, from, from + width],
  });
  const hashes = rows[0]?.hashes ?? null;
  return hashes?.length === width * HASH_BYTES ? hashes : null;
}
