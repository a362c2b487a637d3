import { type NodeAddress, nodeHash, peaksOf, rootOf } from './merkle.ts';

/** Reads a stored node. @throws where it is missing. */
export type NodeReader = (address: NodeAddress) => Buffer;

/** Leaves `from` up to but not including `to`: one entry of a proof is the hash of one such range. */
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
function inclusionRanges(leaf_index: number, size: number): Range[] {
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

/** PROOF(m, D[n]) of RFC 6962 §2.1.2, as ranges; the old root itself is left out where it is a node of the new tree. */
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

/** The nodes that `inclusionPath` will read, so that a store can fetch them at once. */
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

/** RFC 9162 §2.1.3.2. */
export function verifyInclusion(
  claim: { readonly leaf: Buffer; readonly leaf_index: number; readonly size: number; readonly root: Buffer },
  path: readonly Buffer[],
): boolean {
  if (claim.leaf_index < 0 || claim.leaf_index >= claim.size) return false;
  let node = claim.leaf_index;
  let last = claim.size - 1;
  let hash = claim.leaf;
  for (const sibling of path) {
    if (last === 0) return false;
    if (node % 2 === 1 || node === last) {
      hash = nodeHash(sibling, hash);
      while (node % 2 === 0 && node !== 0) [node, last] = [half(node), half(last)];
    } else hash = nodeHash(hash, sibling);
    [node, last] = [half(node), half(last)];
  }
  return last === 0 && hash.equals(claim.root);
}

/** RFC 9162 §2.1.4.2. An empty old tree is a prefix of every tree, with an empty proof. */
export function verifyConsistency(
  claim: { readonly old_size: number; readonly old_root: Buffer; readonly size: number; readonly root: Buffer },
  proof: readonly Buffer[],
): boolean {
  const { old_size, old_root, size, root } = claim;
  if (old_size < 0 || old_size > size) return false;
  if (old_size === size) return proof.length === 0 && old_root.equals(root);
  if (old_size === 0) return proof.length === 0 && old_root.equals(rootOf([]));
  const path = isPowerOfTwo(old_size) ? [old_root, ...proof] : [...proof];
  const first = path.shift();
  if (first === undefined) return false;
  let node = old_size - 1;
  let last = size - 1;
  while (node % 2 === 1) [node, last] = [half(node), half(last)];
  let old_hash = first;
  let hash = first;
  for (const sibling of path) {
    if (last === 0) return false;
    if (node % 2 === 1 || node === last) {
      old_hash = nodeHash(sibling, old_hash);
      hash = nodeHash(sibling, hash);
      while (node % 2 === 0 && node !== 0) [node, last] = [half(node), half(last)];
    } else hash = nodeHash(hash, sibling);
    [node, last] = [half(node), half(last)];
  }
  return last === 0 && old_hash.equals(old_root) && hash.equals(root);
}

/** Not a shift: JavaScript's shifts stop at 32 bits. */
const half = (value: number) => Math.floor(value / 2);
const isPowerOfTwo = (value: number) => Number.isInteger(Math.log2(value));
