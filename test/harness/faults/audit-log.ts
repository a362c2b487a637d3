import { expect } from 'vitest';
import type { Database } from '../../../subgraphs/database.ts';
import { appendLeaf, type Frontier } from '../../../subgraphs/receipt/log/merkle-tree.ts';
import { proveAllIntact } from '../../../subgraphs/receipt/log/prove-intact.ts';
import { savedHead } from '../../../subgraphs/receipt/log/saved-head.ts';
import { EMPTY_ROOT, leafHash } from '../../../subgraphs/receipt/verify/merkle-proof.ts';
import { oneTo } from './audit-books.ts';

interface Leaf {
  readonly leaf_index: number;
  readonly tree_size: number;
  readonly root_hash: string;
  readonly payload: string;
}

/**
 * Builds the tree again from the receipts only. Every root that was signed, stored or saved must be the root of one of the tree's prefixes.
 */
export async function auditLog(database: Database, saved_head_path: string): Promise<void> {
  const leaves = await database.query<Leaf>({
    text: 'select leaf_index, tree_size, root_hash, payload from receipt order by leaf_index',
  });
  expect(leaves.map(leaf => leaf.leaf_index + 1)).toEqual(oneTo(leaves.length));
  const roots = rootsOf(leaves.map(leaf => leaf.payload));
  for (const { tree_size, root_hash } of leaves) expect(root_hash).toBe(roots[tree_size]);

  const heads = await database.query<{ tree_size: number; root_hash: string }>({
    text: `select tree_size, root_hash from tree_head
      union all select tree_size, encode(root_hash, 'hex') from log_head order by tree_size`,
  });
  for (const { tree_size, root_hash } of heads) expect(root_hash).toBe(roots[tree_size]);
  expect(heads.at(-1)?.tree_size).toBe(leaves.length);

  const saved = await savedHead(saved_head_path).readAll();
  for (const { tree_size, root_hash } of saved) expect(root_hash).toBe(roots[tree_size]);
  expect((await proveAllIntact(database, saved)).integrity).toMatchObject({ kind: 'intact' });
}

/** Root of each prefix, by its size. */
function rootsOf(payloads: readonly string[]): string[] {
  const roots = [EMPTY_ROOT.toString('hex')];
  let frontier: Frontier = [];
  payloads.forEach((payload, size) => {
    const appended = appendLeaf(frontier, size, leafHash(payload));
    frontier = appended.frontier;
    roots.push(appended.root.toString('hex'));
  });
  return roots;
}
