import type { Database } from '../../database.ts';
import type { LogHalt } from './halt.ts';
import { compareHeads, lastNotExtended } from './prove-extension.ts';
import { LOG_ID, type TreeHeadFacts } from './tree-head.ts';

export type LogIntegrity =
  | { readonly kind: 'intact'; readonly found: TreeHeadFacts }
  /** Nothing is known from outside the database: a first start where it is empty, or else a lost DATA_DIR. */
  | { readonly kind: 'unsaved'; readonly found: TreeHeadFacts }
  /** The database knows fewer leaves than were signed: an older dump, or a truncated table. */
  | { readonly kind: 'shrunken'; readonly saved: TreeHeadFacts; readonly found: TreeHeadFacts }
  /** As long as it should be or longer, and yet not the log that was signed. */
  | { readonly kind: 'rewritten'; readonly saved: TreeHeadFacts; readonly found: TreeHeadFacts }
  /** A process met another log than the one it knew, and closed this one for all. */
  | {
      readonly kind: 'halted';
      readonly saved: TreeHeadFacts | null;
      readonly found: TreeHeadFacts;
      readonly halt: LogHalt;
    }
  /** Its head is not where its leaves, receipts and signed heads end: what is appended next would meet what stands. */
  | { readonly kind: 'contradictory'; readonly saved: TreeHeadFacts | null; readonly found: TreeHeadFacts };

/**
 * Whether the log in the database still begins with the one whose head was saved outside of it.
 * Nodes are never changed, so the roots are computed again from them, not read from a stored head: O(log n) rows. That
 * the leaves below are still those of the receipts is for the audit to say (audit-stored.ts).
 */
export async function proveLogIntact(database: Database, saved: TreeHeadFacts | null): Promise<LogIntegrity> {
  const { found, ends_with_head, halt } = await storedHead(database);
  if (saved !== null && found.tree_size < saved.tree_size) return { kind: 'shrunken', saved, found };
  if (!ends_with_head) return { kind: 'contradictory', saved, found };
  if (saved !== null && !(await isExtendedBy(database, saved, found))) return { kind: 'rewritten', saved, found };
  if (halt !== null) return { kind: 'halted', saved, found, halt };
  return saved === null ? { kind: 'unsaved', found } : { kind: 'intact', found };
}

async function isExtendedBy(database: Database, saved: TreeHeadFacts, found: TreeHeadFacts): Promise<boolean> {
  if (compareHeads([saved], found).kind === 'contradicted') return false;
  return (await lastNotExtended(database, [saved], found)) === null;
}

interface StoredHead {
  readonly found: TreeHeadFacts;
  readonly halt: LogHalt | null;
  readonly ends_with_head: boolean;
}

/** The head as it stands; in one statement with what it is the head of, for others may append meanwhile. */
export async function storedHead(database: Database): Promise<StoredHead> {
  const [head] = await database.query<StoredHeadRow>({
    name: 'read log head',
    text: `select h.tree_size, h.root_hash, h.halted, coalesce((select max(tree_size) from tree_head), 0) as signed,
        greatest((select max(index) + 1 from log_node where level = 0), (select max(leaf_index) + 1 from receipt), 0) as reach
      from log_head h where log_id = $1`,
    values: [LOG_ID],
  });
  const { tree_size = 0, root_hash, signed, reach = 0, halted = null } = head ?? {};
  return {
    found: { log_id: LOG_ID, tree_size, root_hash: root_hash?.toString('hex') ?? '' },
    ends_with_head: signed === tree_size && reach <= tree_size,
    halt: halted,
  };
}

interface StoredHeadRow {
  readonly tree_size: number;
  readonly root_hash: Buffer;
  readonly halted: LogHalt | null;
  readonly signed: number;
  readonly reach: number;
}
