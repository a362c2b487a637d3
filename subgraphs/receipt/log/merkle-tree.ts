import { nodeHash, rootOf } from '../verify/merkle-proof.ts';

/**
 * Address of a node in the append-only Merkle tree of RFC 6962 §2.1 (RFC 9162 §2.1.1): its level (0 for leaves) and its index in that
 * level. Only perfect subtrees are nodes. This file computes the tree and stores nothing.
 */
export interface NodeAddress {
  readonly level: number;
  readonly index: number;
}

export interface TreeNode extends NodeAddress {
  readonly hash: Buffer;
}

/** Roots of the perfect subtrees of a tree, largest first: one for each set bit of its size. An append needs nothing else of the tree. */
export type Frontier = readonly Buffer[];

export interface AppendResult {
  readonly frontier: Frontier;
  readonly root: Buffer;
  /** The leaf and every parent that it completes, lowest first. These are the nodes to store. */
  readonly nodes: readonly TreeNode[];
}

/** Adds leaf number `size`. It takes at most log2(size) + 1 node hashes, including the root. */
export function appendLeaf(frontier: Frontier, size: number, leaf: Buffer): AppendResult {
  const { peaks, kept } = growPeaks({ peaks: frontier, size, leaf, join: nodeHash });
  const nodes = kept.map(({ level, index, node }) => ({ level, index, hash: node }));
  return { frontier: peaks, root: rootOf(peaks), nodes };
}

/** A node of a tree of this shape, with a value of any type. */
export interface KeptNode<Node> extends NodeAddress {
  readonly node: Node;
}

interface Growth<Node> {
  readonly peaks: readonly Node[];
  readonly size: number;
  readonly leaf: Node;
  readonly join: (left: Node, right: Node) => Node;
}

/** Adds one leaf. `kept` contains the leaf and every parent that it completes, lowest first. */
export function growPeaks<Node>({ peaks: before, size, leaf, join }: Growth<Node>): {
  readonly peaks: readonly Node[];
  readonly kept: readonly KeptNode<Node>[];
} {
  const peaks = [...before];
  const kept: KeptNode<Node>[] = [{ level: 0, index: size, node: leaf }];
  let node = leaf;
  let index = size;
  for (let level = 1; index % 2 === 1; level++) {
    const left = peaks.pop();
    if (left === undefined) throw new RangeError(`the peaks do not belong to a tree of ${size} leaves`);
    node = join(left, node);
    index = (index - 1) / 2;
    kept.push({ level, index, node });
  }
  return { peaks: [...peaks, node], kept };
}

/** The perfect subtrees that make up leaves `from` up to but not including `to`, largest first. `from` must be aligned to them. */
export function peaksOf(from: number, to: number): NodeAddress[] {
  const peaks: NodeAddress[] = [];
  for (let start = from; start < to; ) {
    const level = Math.floor(Math.log2(to - start));
    peaks.push({ level, index: start / 2 ** level });
    start += 2 ** level;
  }
  return peaks;
}

/** Reads a stored node. @throws if it is missing. */
export type NodeReader = (address: NodeAddress) => Buffer;

/** Leaves `from` up to but not including `to`. One entry of a proof is the hash of one such range. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** k of RFC 6962 §2.1: the largest power of two smaller than `width`. */
function split(width: number): number {
  const power = 2 ** Math.floor(Math.log2(width));
  return power === width ? power / 2 : power;
}

/** PATH(m, D[n]) of RFC 6962 §2.1.1, as ranges, the leaf's neighbour first. */
export function inclusionRanges(leaf_index: number, size: number): Range[] {
  if (leaf_index < 0 || leaf_index >= size) throw new RangeError(`no leaf ${leaf_index} in a tree of ${size}`);
  const ranges: Range[] = [];
  let from = 0;
  let to = size;
  while (to - from > 1) {
    const middle = from + split(to - from);
    ranges.unshift(leaf_index < middle ? { from: middle, to } : { from, to: middle });
    if (leaf_index < middle) to = middle;
    else from = middle;
  }
  return ranges;
}

/** PROOF(m, D[n]) of RFC 6962 §2.1.2, as ranges. The old root itself is left out if it is a node of the new tree. */
function consistencyRanges(old_size: number, size: number): Range[] {
  if (old_size < 0 || old_size > size) throw new RangeError(`no tree of ${old_size} inside one of ${size}`);
  const ranges: Range[] = [];
  let from = 0;
  let to = size;
  while (old_size > 0 && old_size < to) {
    const middle = from + split(to - from);
    ranges.unshift(old_size <= middle ? { from: middle, to } : { from, to: middle });
    if (old_size <= middle) to = middle;
    else from = middle;
  }
  if (old_size > 0 && from > 0) ranges.unshift({ from, to });
  return ranges;
}

const addresses = (ranges: Range[]) => ranges.flatMap(range => peaksOf(range.from, range.to));
const hashes = (ranges: Range[], read: NodeReader) =>
  ranges.map(range => rootOf(peaksOf(range.from, range.to).map(read)));

/** The nodes that `inclusionPath` reads, so that they can be fetched at once. */
export function inclusionNodes(leaf_index: number, size: number): NodeAddress[] {
  return addresses(inclusionRanges(leaf_index, size));
}

export function inclusionPath(leaf_index: number, size: number, read: NodeReader): Buffer[] {
  return hashes(inclusionRanges(leaf_index, size), read);
}

export function consistencyNodes(old_size: number, size: number): NodeAddress[] {
  return addresses(consistencyRanges(old_size, size));
}

export function consistencyPath(old_size: number, size: number, read: NodeReader): Buffer[] {
  return hashes(consistencyRanges(old_size, size), read);
}
