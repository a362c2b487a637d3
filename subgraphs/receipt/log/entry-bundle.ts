import type { Database } from '../../database.ts';
import { recordDamaged } from '../damaged-record.ts';
import { leafHash } from '../verify/merkle-proof.ts';
import { HASH_BYTES, TILE_WIDTH, type TileAddress, tile } from './tiles.ts';

/** Whether strangers may have what the leaves are of: it names wallets, and most receipts are known to their payers alone. */
export type LogEntries = 'none' | 'public';

const ENTRY_BYTES_MAX = 2 ** 16 - 1;

/**
 * The unsigned payloads that the leaves of a tile are of, in canonical JSON, each behind its length in two bytes
 * (https://c2sp.org/tlog-tiles, log entries); null where the log does not hold all of them yet. Each is held to its leaf.
 * @throws Refusal record_damaged where one is not what the leaf is of
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
