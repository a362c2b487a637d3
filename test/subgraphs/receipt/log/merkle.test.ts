import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  appendLeaf,
  consistencyNodes,
  consistencyPath,
  type Frontier,
  inclusionNodes,
  inclusionPath,
  type NodeReader,
} from '../../../../subgraphs/receipt/log/merkle-tree.ts';
import {
  EMPTY_ROOT,
  leafHash,
  nodeHash,
  rootOf,
  verifyConsistency,
  verifyInclusion,
} from '../../../../subgraphs/receipt/verify/merkle-proof.ts';
import { consistency, inclusion, leaves, roots } from '../../../harness/vectors/rfc6962.ts';

const hex = (hash: Buffer) => hash.toString('hex');
const bytes = (text: string) => Buffer.from(text, 'hex');

/** Grows a log leaf by leaf, as the service does. */
function grow(data: readonly Buffer[]) {
  const nodes = new Map<string, Buffer>();
  const heads = [EMPTY_ROOT];
  let frontier: Frontier = [];
  data.forEach((leaf, size) => {
    const appended = appendLeaf(frontier, size, leafHash(leaf));
    for (const { level, index, hash } of appended.nodes) nodes.set(`${level}/${index}`, hash);
    heads.push(appended.root);
    frontier = appended.frontier;
  });
  const read: NodeReader = ({ level, index }) => nodes.get(`${level}/${index}`) ?? Buffer.alloc(0);
  const root = (size: number) => heads[size] ?? Buffer.alloc(0);
  return { read, root, frontier, nodes };
}

/** Merkle tree hash by the definition of RFC 6962 section 2.1. */
function naiveRoot(data: readonly Buffer[]): Buffer {
  const [only] = data;
  if (only === undefined) return EMPTY_ROOT;
  if (data.length === 1) return leafHash(only);
  let k = 1;
  while (k * 2 < data.length) k *= 2;
  return nodeHash(naiveRoot(data.slice(0, k)), naiveRoot(data.slice(k)));
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => Buffer.from(`leaf ${index}`));

describe('the log against the reference tree of RFC 6962', () => {
  const tree = grow(leaves.map(bytes));

  it.each(roots.map((root, size) => [size, root] as const))('has the reference root at size %i', (size, root) => {
    expect(hex(tree.root(size))).toBe(root);
  });

  it.each(inclusion)('proves leaf $leaf_index of $size as the reference does', ({ leaf_index, size, path }) => {
    expect(inclusionPath(leaf_index, size, tree.read).map(hex)).toEqual(path);
    const claim = { leaf: leafHash(bytes(leaves[leaf_index] ?? '')), leaf_index, size, root: bytes(roots[size] ?? '') };
    expect(verifyInclusion(claim, path.map(bytes))).toBe(true);
  });

  it.each(consistency)('proves $old_size a prefix of $size as the reference does', ({ old_size, size, proof }) => {
    expect(consistencyPath(old_size, size, tree.read).map(hex)).toEqual(proof);
    const claim = { old_size, old_root: bytes(roots[old_size] ?? ''), size, root: bytes(roots[size] ?? '') };
    expect(verifyConsistency(claim, proof.map(bytes))).toBe(true);
  });
});

describe('a growing log', () => {
  it('always has the root that RFC 6962 defines, also when folded from the frontier alone', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 4 }), { maxLength: 70 }), data => {
        const buffers = data.map(each => Buffer.from(each));
        const tree = grow(buffers);
        expect(hex(tree.root(data.length))).toBe(hex(naiveRoot(buffers)));
        expect(hex(rootOf(tree.frontier))).toBe(hex(naiveRoot(buffers)));
      }),
    );
  });

  it('hashes at most log2(n) + 1 times per append', () => {
    let frontier: Frontier = [];
    for (let size = 0; size < 1_000; size++) {
      const before = frontier;
      const appended = appendLeaf(before, size, leafHash(`${size}`));
      const hashed = appended.nodes.length - 1 + appended.frontier.length - 1;
      expect(hashed).toBeLessThanOrEqual(Math.floor(Math.log2(size + 1)) + 1);
      frontier = appended.frontier;
    }
  });

  it('stores each node once, and never more than two per leaf', () => {
    expect(grow(numbered(777)).nodes.size).toBeLessThan(2 * 777);
  });

  it('refuses a frontier of another size', () => {
    expect(() => appendLeaf([], 3, leafHash('x'))).toThrow(RangeError);
  });
});

const tree = grow(numbered(200));
const sizes = fc.integer({ min: 1, max: 200 });

describe('inclusion proofs', () => {
  const place = sizes.chain(size => fc.tuple(fc.constant(size), fc.integer({ min: 0, max: size - 1 })));
  const claimed = ([size, leaf_index]: [number, number]) => ({
    leaf: leafHash(`leaf ${leaf_index}`),
    leaf_index,
    size,
    root: tree.root(size),
  });

  it('verify for every leaf of every size, from O(log² n) stored nodes', () => {
    fc.assert(
      fc.property(place, ([size, leaf_index]) => {
        expect(verifyInclusion(claimed([size, leaf_index]), inclusionPath(leaf_index, size, tree.read))).toBe(true);
        expect(inclusionNodes(leaf_index, size).length).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(size + 1)));
      }),
    );
  });

  it('fail when leaf, place, root or any hash of the path is another', () => {
    fc.assert(
      fc.property(place, fc.nat(), ([size, leaf_index], pick) => {
        const claim = claimed([size, leaf_index]);
        const path = inclusionPath(leaf_index, size, tree.read);
        expect(verifyInclusion({ ...claim, leaf: leafHash('forged') }, path)).toBe(false);
        expect(verifyInclusion({ ...claim, root: leafHash('forged') }, path)).toBe(false);
        expect(verifyInclusion({ ...claim, leaf_index: size }, path)).toBe(false);
        expect(verifyInclusion(claim, [...path, leafHash('more')])).toBe(false);
        if (path.length === 0) return;
        expect(verifyInclusion(claim, path.slice(1))).toBe(false);
        expect(verifyInclusion(claim, path.with(pick % path.length, leafHash('forged')))).toBe(false);
      }),
    );
  });
});

describe('consistency proofs', () => {
  const pair = sizes.chain(size => fc.tuple(fc.integer({ min: 0, max: size }), fc.constant(size)));
  const claimed = ([old_size, size]: [number, number]) => ({
    old_size,
    old_root: tree.root(old_size),
    size,
    root: tree.root(size),
  });

  it('verify for every prefix, from O(log n) stored nodes', () => {
    fc.assert(
      fc.property(pair, ([old_size, size]) => {
        expect(verifyConsistency(claimed([old_size, size]), consistencyPath(old_size, size, tree.read))).toBe(true);
        expect(consistencyNodes(old_size, size).length).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(size + 1)));
      }),
    );
  });

  it('fail when either root, the sizes or any hash of the proof is another', () => {
    fc.assert(
      fc.property(pair, fc.nat(), ([old_size, size], pick) => {
        const claim = claimed([old_size, size]);
        const proof = consistencyPath(old_size, size, tree.read);
        expect(verifyConsistency({ ...claim, old_root: leafHash('forged') }, proof)).toBe(false);
        if (old_size > 0) expect(verifyConsistency({ ...claim, root: leafHash('forged') }, proof)).toBe(false);
        expect(verifyConsistency({ ...claim, old_size: size + 1 }, proof)).toBe(false);
        expect(verifyConsistency(claim, [...proof, leafHash('more')])).toBe(false);
        if (proof.length === 0) return;
        expect(verifyConsistency(claim, proof.with(pick % proof.length, leafHash('forged')))).toBe(false);
      }),
    );
  });
});
