import type { Database } from '../../database.ts';
import { requireExtended } from './extension.ts';
import type { LogHalt } from './halt.ts';
import type { KnownLog } from './known-log.ts';
import { LOG_ID } from './tree-head.ts';

/**
 * Proves, without a lock, that the stored log extends all that is known of it, and that nobody has halted it; stops what
 * is known where it does not. One cheap statement while nothing has grown elsewhere. @throws LogHalted
 */
export async function lookAtLog(database: Database, known: KnownLog): Promise<void> {
  known.requireSound();
  // Named before the database is asked: others commit meanwhile, and what they tell of then need not be in the answer.
  const heads = known.heads();
  const [head] = await database.query<{ tree_size: number; root_hash: Buffer; halted: LogHalt | null }>({
    name: 'look at log head',
    text: 'select tree_size, root_hash, halted from log_head where log_id = $1',
    values: [LOG_ID],
  });
  const found = { tree_size: head?.tree_size ?? 0, root_hash: head?.root_hash.toString('hex') ?? '' };
  await requireExtended(database, known, heads, { found, halted: head?.halted ?? null });
}
