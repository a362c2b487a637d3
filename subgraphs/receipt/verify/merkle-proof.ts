import { sha256 } from '../../../schema/digest.ts';

/*
 * The hashes of the log's Merkle tree (RFC 6962 §2.1, RFC 9162 §2.1.1), and the checks that need no log: that a tree
 * contains a leaf, and that one tree is the beginning of another.
 */

/** Root of an empty tree: the hash of the empty text (MTH({}), RFC 6962 §2.1). */
export const EMPTY_ROOT: Buffer = sha256('');

/** Prefix of a leaf: one byte of zero, before a text or before bytes. */
const LEAF = '\0';
const NODE = Buffer.of(1);

/** Hash of a leaf. Leaves and nodes have different prefixes, so that a leaf can never pass for a node (second preimage). */
export function leafHash(data: Uint8Array | string): Buffer {
  return sha256(typeof data === 'string' ? LEAF + data : Buffer.concat([Buffer.from(LEAF), data]));
}

export function nodeHash(left: Buffer, right: Buffer): Buffer {
  return sha256(Buffer.concat([NODE, left, right]));
}

/** Root of a tree from the roots of its perfect subtrees, largest first. They are joined from the smallest up. */
export function rootOf(peaks: readonly Buffer[]): Buffer {
  if (peaks.length === 0) return EMPTY_ROOT;
  return peaks.reduceRight((right, left) => nodeHash(left, right));
}

/** Whether the path proves that the tree with this root contains the leaf. */
export function verifyInclusion(claim: PathClaim & { readonly root: Buffer }, path: readonly Buffer[]): boolean {
  return rootOfPath(claim, path)?.equals(claim.root) ?? false;
}

/** The hash of a leaf, and its index in a tree of `size` leaves. */
interface PathClaim {
  readonly leaf: Buffer;
  readonly leaf_index: number;
  readonly size: number;
}

/** The root to which a path leads from a leaf; null if a tree of that size has no path of that length from the leaf. */
export function rootOfPath({ leaf, leaf_index, size }: PathClaim, path: readonly Buffer[]): Buffer | null {
  return foldPath({ leaf, leaf_index, size, path, join: nodeHash });
}

/** A path from a leaf to the root in a tree of this shape, for any type of node. */
interface PathFold<Node> {
  readonly leaf: Node;
  readonly leaf_index: number;
  readonly size: number;
  readonly path: readonly Node[];
  readonly join: (left: Node, right: Node) => Node;
}

/** The root that follows from a leaf and its path (RFC 9162 §2.1.3.2); null if the path does not belong to a tree of that size. */
export function foldPath<Node>({ leaf, leaf_index, size, path, join }: PathFold<Node>): Node | null {
  if (leaf_index < 0 || leaf_index >= size) return null;
  let index = leaf_index;
  let last = size - 1;
  let node = leaf;
  for (const sibling of path) {
    if (last === 0) return null;
    if (index % 2 === 1 || index === last) {
      node = join(sibling, node);
      while (index % 2 === 0 && index !== 0) [index, last] = [half(index), half(last)];
    } else node = join(node, sibling);
    [index, last] = [half(index), half(last)];
  }
  return last === 0 ? node : null;
}

/** Whether the old tree is a prefix of the new tree (RFC 9162 §2.1.4.2). An empty tree is a prefix of every tree, with an empty proof. */
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

/** Half of a number, rounded down. A shift would not do, because JavaScript shifts only 32 bits. */
const half = (value: number) => Math.floor(value / 2);
const isPowerOfTwo = (value: number) => Number.isInteger(Math.log2(value));
