import type { Database } from '../../database.ts';
import { LOG_ID, type TreeHeadFacts } from './head.ts';
import { verifyConsistency } from './merkle-proof.ts';
import { consistencyProof, MissingNode, storedRoot } from './proof.ts';

export type LogIntegrity =
  | { readonly kind: 'intact' }
  /** Nothing is known from outside the database: a first start, or a lost DATA_DIR. */
  | { readonly kind: 'unsaved'; readonly found: TreeHeadFacts }
  /** The database knows fewer leaves than were signed: an older dump, or a truncated table. */
  | { readonly kind: 'shrunken'; readonly saved: TreeHeadFacts; readonly found: TreeHeadFacts }
  /** As long as it should be or longer, and yet not the log that was signed. */
  | { readonly kind: 'rewritten'; readonly saved: TreeHeadFacts; readonly found: TreeHeadFacts };

/**
 * Whether the log in the database still begins with the one whose head was saved outside of it.
 * Nodes are never changed, so the roots are computed again from them, not read from a stored head: O(log n) rows.
 */
export async function proveLogIntact(database: Database, saved: TreeHeadFacts | null): Promise<LogIntegrity> {
  const found = await storedHead(database);
  if (saved === null) return { kind: 'unsaved', found };
  if (found.tree_size < saved.tree_size) return { kind: 'shrunken', saved, found };
  return (await continues(database, saved, found)) ? { kind: 'intact' } : { kind: 'rewritten', saved, found };
}

async function continues(database: Database, saved: TreeHeadFacts, found: TreeHeadFacts): Promise<boolean> {
  try {
    const root = await storedRoot(database, found.tree_size);
    if (root.toString('hex') !== found.root_hash) return false;
    const proof = await consistencyProof(database, saved.tree_size, found.tree_size);
    const old_root = Buffer.from(saved.root_hash, 'hex');
    return verifyConsistency({ old_size: saved.tree_size, old_root, size: found.tree_size, root }, proof);
  } catch (fault) {
    if (fault instanceof MissingNode) return false;
    throw fault;
  }
}

async function storedHead(database: Database): Promise<TreeHeadFacts> {
  const rows = await database.query<{ tree_size: number; root_hash: Buffer }>({
    name: 'read log head',
    text: 'select tree_size, root_hash from log_head where log_id = $1',
    values: [LOG_ID],
  });
  const head = rows[0];
  return { log_id: LOG_ID, tree_size: head?.tree_size ?? 0, root_hash: head?.root_hash.toString('hex') ?? '' };
}
