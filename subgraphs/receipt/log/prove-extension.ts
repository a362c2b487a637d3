import type { Database } from '../../database.ts';
import { rootOf, verifyConsistency } from '../verify/merkle-proof.ts';
import type { LogHalt } from './halt.ts';
import type { KnownLog } from './known-log.ts';
import { consistencyNodes, consistencyPath, type NodeReader, peaksOf } from './merkle-tree.ts';
import { MissingNode, readNodes } from './stored-proofs.ts';
import { type HeadName, isOther, LOG_ID } from './tree-head.ts';

/** What a head that was found says of those that are known to have been signed. */
export type HeadComparison<H extends HeadName> =
  /** The newest that is known, and no older one is left to be proven: nothing need be asked. */
  | { readonly kind: 'known' }
  /** It may extend them; for each of these a consistency proof has to say so (RFC 9162 §2.1.4). */
  | { readonly kind: 'unproven'; readonly older: readonly H[] }
  /** The last of those that cannot be prefixes of it: longer, or as long and another. */
  | { readonly kind: 'contradicted'; readonly known: H };

/** Pure: whatever was signed must be a prefix of what is found, and two of the same size are the same. */
export function compareHeads<H extends HeadName>(known: readonly H[], found: HeadName): HeadComparison<H> {
  const contradicted = known.findLast(head => head.tree_size > found.tree_size || isOther(head, found));
  if (contradicted) return { kind: 'contradicted', known: contradicted };
  const older = known.filter(head => head.tree_size < found.tree_size);
  return older.length === 0 ? { kind: 'known' } : { kind: 'unproven', older };
}

/** The head as it stands in the database. */
export interface FoundHead {
  readonly found: HeadName;
  readonly halted: LogHalt | null;
}

/**
 * Requires that what was found extends `heads`, all that was known before it was read, and that nobody has halted it.
 * It asks for no proof while nothing has grown elsewhere. @throws LogHalted, and what is known is stopped.
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
  known.proved(found, heads);
}

/**
 * The last of these heads that the stored log of `found` does not extend; null where it extends all of them. A stored
 * root proves nothing: that of `found` is computed again from the nodes too. One statement, O(log n) rows for each head.
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
