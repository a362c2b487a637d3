import { sha256 } from '../../../schema/digest.ts';

/**
 * The append-only Merkle tree of RFC 6962 §2.1 (RFC 9162 §2.1.1): pure, no storage.
 * A node is named by its level (leaves are 0) and its index in that level; only perfect subtrees are nodes.
 */
export interface NodeAddress {
  readonly level: number;
  readonly index: number;
}

export interface TreeNode extends NodeAddress {
  readonly hash: Buffer;
}

/** MTH({}) is the hash of nothing. */
export const EMPTY_ROOT: Buffer = sha256('');

/** A byte of zero, before texts as before bytes. */
const LEAF = '\0';
const NODE = Buffer.of(1);

/** The prefixes keep a leaf from ever passing for a node (second preimage). */
export function leafHash(data: Uint8Array | string): Buffer {
  return sha256(typeof data === 'string' ? LEAF + data : Buffer.concat([Buffer.from(LEAF), data]));
}

export function nodeHash(left: Buffer, right: Buffer): Buffer {
  return sha256(Buffer.concat([NODE, left, right]));
}

/**
 * Roots of the perfect subtrees of which a tree of some size consists, largest first:
 * one for each set bit of the size. All that an append has to know of the tree.
 */
export type Frontier = readonly Buffer[];

export interface Appended {
  readonly frontier: Frontier;
  readonly root: Buffer;
  /** The leaf and every parent that it completes, lowest first: what a store has to keep. */
  readonly nodes: readonly TreeNode[];
}

/** Adds leaf number `size`; costs at most log2(size) + 1 node hashes, the root included. */
export function appendLeaf(frontier: Frontier, size: number, leaf: Buffer): Appended {
  const peaks = [...frontier];
  const nodes: TreeNode[] = [{ level: 0, index: size, hash: leaf }];
  let hash = leaf;
  let index = size;
  for (let level = 1; index % 2 === 1; level++) {
    const left = peaks.pop();
    if (left === undefined) throw new RangeError(`the frontier does not belong to a tree of ${size} leaves`);
    hash = nodeHash(left, hash);
    index = (index - 1) / 2;
    nodes.push({ level, index, hash });
  }
  peaks.push(hash);
  return { frontier: peaks, root: rootOf(peaks), nodes };
}

/** Folds the peaks from the smallest up. */
export function rootOf(frontier: Frontier): Buffer {
  if (frontier.length === 0) return EMPTY_ROOT;
  return frontier.reduceRight((right, left) => nodeHash(left, right));
}

/** The perfect subtrees that make up leaves `from` up to `to`, largest first; `from` must be aligned to them. */
export function peaksOf(from: number, to: number): NodeAddress[] {
  const peaks: NodeAddress[] = [];
  for (let start = from; start < to; ) {
    const level = Math.floor(Math.log2(to - start));
    peaks.push({ level, index: start / 2 ** level });
    start += 2 ** level;
  }
  return peaks;
}
