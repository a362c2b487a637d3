import type { Database } from '../../database.ts';
import { recordDamaged } from '../damaged-record.ts';
import { leafHash } from '../verify/merkle-proof.ts';

/* The tiles of the log: their hashes, and the entries of their leaves (https://c2sp.org/tlog-tiles). */

/** Number of hashes of a whole tile, and number of levels of the tree that a tile spans (https://c2sp.org/tlog-tiles). */
const TILE_WIDTH = 256;
const TILE_HEIGHT = 8;
const HASH_BYTES = 32;

interface TileAddress {
  /** 0 for the leaves. Each hash of a tile on a higher level is the root of a whole tile one level below. */
  readonly level: number;
  readonly index: number;
  /** Number of hashes: 256, or fewer for a partial tile. */
  readonly width: number;
}

const INDEX = /^(?:x\d{3}\/){0,2}\d{3}$/;
const PARTIAL = /^(?<index>[^.]+)\.p\/(?<width>[1-9]\d{0,2})$/;

/** Address of the tile that a path such as `x001/x234/067.p/8` names; null if it names no tile. @param level path segment before it */
export function tileAddress(level: string, path: string): TileAddress | null {
  const partial = PARTIAL.exec(path)?.groups;
  const index = partial?.index ?? path;
  const width = partial ? Number(partial.width) : TILE_WIDTH;
  if (!/^(?:\d|[1-5]\d|6[0-3])$/.test(level) || !isIndex(index) || (partial && width >= TILE_WIDTH)) return null;
  return { level: Number(level), index: Number(index.replace(/[x/]/g, '')), width };
}

/** Each index has only one spelling, so the path does not begin with an element of zeros. */
function isIndex(text: string): boolean {
  return INDEX.test(text) && !text.startsWith('x000/');
}

/** Hashes of a tile, concatenated; null if the log does not have all of them yet. Nodes are written once and never changed. */
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

/** Whether the entries of the leaves are public. They name wallets, and most receipts are known only to their payers. */
export type LogEntries = 'none' | 'public';

const ENTRY_BYTES_MAX = 2 ** 16 - 1;

/**
 * The unsigned payloads of the leaves of a tile, in canonical JSON, each preceded by its length in two bytes (https://c2sp.org/tlog-tiles,
 * log entries); null if the log does not have all of them yet. Each payload is checked against its leaf.
 * @throws Refusal record_damaged if a receipt is missing or does not match its leaf
 */
export async function entryBundle(
  database: Database,
  { index, width }: Omit<TileAddress, 'level'>,
): Promise<Buffer | null> {
  const leaves = await tile(database, { level: 0, index, width });
  if (leaves === null) return null;
  const from = index * TILE_WIDTH;
  const rows = await database.query<{ leaf_index: number; task_id: string; payload: string }>({
    name: 'log entries',
    text: `select leaf_index, task_id, payload from receipt where leaf_index >= $1 and leaf_index < $2 order by leaf_index`,
    values: [from, from + width],
  });
  if (rows.length !== width)
    throw recordDamaged(database, { record: 'receipt', id: `leaf ${from}`, column: 'leaf_index' });
  return Buffer.concat(
    rows.flatMap(({ leaf_index, task_id, payload }) => {
      const at = (leaf_index - from) * HASH_BYTES;
      if (!leafHash(payload).equals(leaves.subarray(at, at + HASH_BYTES)))
        throw recordDamaged(database, { record: 'receipt', id: task_id, column: 'payload' });
      return lengthAndBytes(Buffer.from(payload));
    }),
  );
}

function lengthAndBytes(entry: Buffer): Buffer[] {
  if (entry.length > ENTRY_BYTES_MAX) throw new RangeError(`an entry of ${entry.length} bytes fits no bundle`);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(entry.length);
  return [length, entry];
}
