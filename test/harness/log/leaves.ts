import { createHash } from 'node:crypto';
import { LogHalted } from '../../../subgraphs/receipt/log/halt.ts';
import type { OneLog } from '../../../subgraphs/receipt/log/head-files.ts';
import { type SignedTreeHead, treeHeadHash } from '../../../subgraphs/receipt/log/tree-head.ts';

/* Logs without a database: a log is a text with one character for each leaf, and its root is the hash of that text. */

const AT = '2026-01-02T03:04:05.678Z';

export function rootOf(leaves: string): string {
  return createHash('sha256').update(leaves).digest('hex');
}

export function headOf(leaves: string, at = AT): SignedTreeHead {
  const facts = { log_id: 1, tree_size: leaves.length, root_hash: rootOf(leaves) };
  return { ...facts, tree_head_hash: treeHeadHash(facts), kid: 'kid', jws: 'a.b.c', at };
}

/** Decides for logs that are prefixes of the named ones. */
export function logsOf(logs: () => readonly string[]): OneLog {
  return {
    isExtended: async (older, newer) =>
      logs().some(
        leaves =>
          rootOf(leaves.slice(0, newer.tree_size)) === newer.root_hash &&
          rootOf(leaves.slice(0, older.tree_size)) === older.root_hash,
      ),
    stop: mismatch => new LogHalted(mismatch),
  };
}
