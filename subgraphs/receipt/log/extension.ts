import type { Database, Tx } from '../../database.ts';
import type { LogHalt } from './halt.ts';
import { judge } from './judge.ts';
import type { KnownLog } from './known-log.ts';
import { peaksOf, rootOf } from './merkle.ts';
import { consistencyNodes, consistencyPath, type NodeReader, verifyConsistency } from './merkle-proof.ts';
import { MissingNode, readNodes } from './proof.ts';
import type { HeadName } from './tree-head.ts';

/** The stored nodes as one transaction sees them. */
export function nodesWithin(tx: Tx): Pick<Database, 'query'> {
  return { query: async statement => (await tx.query(statement)).rows as never };
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
  const judgement = judge(heads, found);
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
