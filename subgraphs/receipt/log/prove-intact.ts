import type { Database } from '../../database.ts';
import { rootOf, verifyConsistency } from '../verify/merkle-proof.ts';
import type { LogHalt } from './halt.ts';
import type { KnownLog } from './known-log.ts';
import { consistencyNodes, consistencyPath, type NodeReader, peaksOf } from './merkle-tree.ts';
import { MissingNode, readNodes } from './stored-proofs.ts';
import { type HeadName, isFork, LOG_ID, type TreeHeadFacts } from './tree-head.ts';

export type LogIntegrity =
  | { readonly kind: 'intact'; readonly found: TreeHeadFacts }
  /** No head was saved outside the database: it is the first start if the database is empty, otherwise DATA_DIR was lost. */
  | { readonly kind: 'unsaved'; readonly found: TreeHeadFacts }
  /** The database has fewer leaves than were signed, because of an older dump or a truncated table. */
  | { readonly kind: 'shrunken'; readonly saved: TreeHeadFacts; readonly found: TreeHeadFacts }
  /** The log has at least as many leaves as it must have, but is not the log that was signed. */
  | { readonly kind: 'rewritten'; readonly saved: TreeHeadFacts; readonly found: TreeHeadFacts }
  /** A process found that the log does not extend a known head, and halted it for all processes. */
  | {
      readonly kind: 'halted';
      readonly saved: TreeHeadFacts | null;
      readonly found: TreeHeadFacts;
      readonly halt: LogHalt;
    }
  /**
   * The size of the log's head is not that of its leaves, receipts and signed heads, so the next leaf would collide with an existing one.
   */
  | { readonly kind: 'contradictory'; readonly saved: TreeHeadFacts | null; readonly found: TreeHeadFacts };

/**
 * Whether the log in the database extends the head that was saved outside it. Nodes are never changed, so the roots are computed again from
 * the nodes, not read from a stored head. It reads O(log n) rows. Whether the leaves are still those of the receipts is checked by the
 * audit (audit-database.ts).
 */
export async function proveLogIntact(database: Database, saved: TreeHeadFacts | null): Promise<LogIntegrity> {
  const { found, ends_with_head, halt } = await storedHead(database);
  if (saved !== null && found.tree_size < saved.tree_size) return { kind: 'shrunken', saved, found };
  if (!ends_with_head) return { kind: 'contradictory', saved, found };
  if (saved !== null && !(await isExtendedBy(database, saved, found))) return { kind: 'rewritten', saved, found };
  if (halt !== null) return { kind: 'halted', saved, found, halt };
  return saved === null ? { kind: 'unsaved', found } : { kind: 'intact', found };
}

/**
 * The same for the heads that several processes have saved, the largest first: `saved` is the first that the log does not extend, or else
 * the largest.
 */
export async function proveAllIntact<H extends TreeHeadFacts>(
  database: Database,
  heads: readonly H[],
): Promise<{ readonly saved: H | null; readonly integrity: LogIntegrity }> {
  const [largest = null, ...others] = heads;
  const integrity = await proveLogIntact(database, largest);
  for (const saved of integrity.kind === 'intact' ? others : []) {
    const other = await proveLogIntact(database, saved);
    if (other.kind !== 'intact') return { saved, integrity: other };
  }
  return { saved: largest, integrity };
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

/** Reads the current head, and the sizes of what it must cover, in one statement, because others may append meanwhile. */
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

/** Result of comparing a stored head with the heads that are known to be signed. */
type HeadComparison<H extends HeadName> =
  /** The stored head is the newest known one, and no older head is left to be proven. No query is needed. */
  | { readonly kind: 'known' }
  /** The stored head may extend the `older` ones. A consistency proof must show that for each of them (RFC 9162 §2.1.4). */
  | { readonly kind: 'unproven'; readonly older: readonly H[] }
  /** The last known head that the stored one cannot extend, because it is larger, or has the same size and another root. */
  | { readonly kind: 'contradicted'; readonly known: H };

/** Compares sizes and roots only: the stored log must extend every signed head, and two heads of the same size must be equal. */
export function compareHeads<H extends HeadName>(known: readonly H[], found: HeadName): HeadComparison<H> {
  const contradicted = known.findLast(head => head.tree_size > found.tree_size || isFork(head, found));
  if (contradicted) return { kind: 'contradicted', known: contradicted };
  const older = known.filter(head => head.tree_size < found.tree_size);
  return older.length === 0 ? { kind: 'known' } : { kind: 'unproven', older };
}

/** The head as stored in the database. */
interface FoundHead {
  readonly found: HeadName;
  readonly halted: LogHalt | null;
}

/**
 * Requires that the stored head extends `heads`, all heads that were known before it was read, and that the log is not halted. A proof is
 * needed only if other processes have appended. @throws LogHalted, and records the mismatch in `known`
 */
export async function requireExtended(
  nodes: Pick<Database, 'query'>,
  known: KnownLog,
  heads: readonly HeadName[],
  { found, halted }: FoundHead,
): Promise<void> {
  if (halted) throw known.stop(halted);
  const judgement = compareHeads(heads, found);
  const forked = judgement.kind === 'unproven' ? await lastNotExtended(nodes, judgement.older, found) : null;
  const contradicted = judgement.kind === 'contradicted' ? judgement.known : forked;
  if (contradicted) throw known.stop({ known: contradicted, found });
  known.addProven(found, heads);
}

/**
 * The last of these heads that the stored log of `found` does not extend; null if it extends all of them. A stored root proves nothing, so
 * the root of `found` is computed again from the nodes too. One statement reads O(log n) rows for each head.
 */
export async function lastNotExtended<H extends HeadName>(
  nodes: Pick<Database, 'query'>,
  older: readonly H[],
  found: HeadName,
): Promise<H | null> {
  const size = found.tree_size;
  const wanted = older.flatMap(({ tree_size }) => consistencyNodes(tree_size, size));
  const read = await readNodes(nodes, [...peaksOf(0, size), ...wanted]);
  const root = unlessMissing(() => rootOf(peaksOf(0, size).map(read)));
  if (root?.toString('hex') !== found.root_hash) return older.at(-1) ?? null;
  return older.findLast(head => !isExtended(head, size, root, read)) ?? null;
}

function isExtended({ tree_size, root_hash }: HeadName, size: number, root: Buffer, read: NodeReader): boolean {
  const proof = unlessMissing(() => consistencyPath(tree_size, size, read));
  const claim = { old_size: tree_size, old_root: Buffer.from(root_hash, 'hex'), size, root };
  return proof !== null && verifyConsistency(claim, proof);
}

function unlessMissing<T>(work: () => T): T | null {
  try {
    return work();
  } catch (fault) {
    if (fault instanceof MissingNode) return null;
    throw fault;
  }
}

/**
 * Proves, without a lock, that the stored log extends all heads known of it and is not halted. It takes one cheap statement unless other
 * processes have appended. @throws LogHalted, and records the mismatch in `known`
 */
export async function lookAtLog(database: Database, known: KnownLog): Promise<void> {
  known.requireSound();
  // The heads are read before the query, because its result need not contain commits that are announced meanwhile.
  const heads = known.heads();
  const [head] = await database.query<{ tree_size: number; root_hash: Buffer; halted: LogHalt | null }>({
    name: 'look at log head',
    text: 'select tree_size, root_hash, halted from log_head where log_id = $1',
    values: [LOG_ID],
  });
  const found = { tree_size: head?.tree_size ?? 0, root_hash: head?.root_hash.toString('hex') ?? '' };
  await requireExtended(database, known, heads, { found, halted: head?.halted ?? null });
}
