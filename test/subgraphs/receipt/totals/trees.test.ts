import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atomicAmount } from '../../../../schema/amount.ts';
import { SparseMap } from '../../../../subgraphs/receipt/totals/sparse-map.ts';
import { appendSum, type GrowingSum, sumNodes, sumPath } from '../../../../subgraphs/receipt/totals/stored-sums.ts';
import { verifyMapProof } from '../../../../subgraphs/receipt/verify/map-proof.ts';
import {
  rootOfRow,
  type SumNode,
  shownNode,
  sumLeaf,
  sumRoot,
} from '../../../../subgraphs/receipt/verify/sum-proof.ts';

const sha = (...parts: (Buffer | string)[]) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};
const hexOf = (seed: number | string) => sha(String(seed)).toString('hex');

/** The map by its definition over a plain Map: the hash of a subtree depends only on the keys below it. */
function modelRoot(entries: readonly (readonly [string, string])[], depth = 0): Buffer {
  const [only] = entries;
  if (only === undefined) return Buffer.alloc(32);
  if (entries.length === 1) return sha(Buffer.of(0), Buffer.from(only[0], 'hex'), Buffer.from(only[1], 'hex'));
  const bit = (key: string) => (BigInt(`0x${key}`) >> BigInt(255 - depth)) & 1n;
  const half = (side: bigint) => entries.filter(([key]) => bit(key) === side);
  return sha(Buffer.of(1), modelRoot(half(0n), depth + 1), modelRoot(half(1n), depth + 1));
}

/** Keys with few different prefixes, so that they share long paths. */
const keys = fc
  .tuple(fc.constantFrom('0', '00000', '0000f', 'ffff', '8'), fc.nat(60))
  .map(([start, seed]) => (start + hexOf(seed)).slice(0, 64));
const entries = fc.array(fc.tuple(keys, fc.nat(1e6).map(hexOf)), { maxLength: 40 });

function mapOf(pairs: readonly (readonly [string, string])[], batch = 7): SparseMap {
  const stored = new Map<string, Parameters<SparseMap['set']>[1] | object>();
  let map = new SparseMap();
  for (let at = 0; at < pairs.length; at += batch) {
    for (const [key, value] of pairs.slice(at, at + batch)) map.set(key, value);
    for (const { prefix, page } of map.store()) stored.set(prefix, page);
    // Builds the map again from the stored pages only, as the next batch does.
    map = new SparseMap(stored as Map<string, never>);
  }
  return map;
}

describe('the sparse map', () => {
  it('has the root of its definition, whatever was set in which order and in which batches', () => {
    fc.assert(
      fc.property(entries, fc.integer({ min: 1, max: 9 }), (pairs, batch) => {
        const model = new Map(pairs);
        expect(mapOf(pairs, batch).root).toBe(modelRoot([...model]).toString('hex'));
        expect(mapOf([...model].reverse()).root).toBe(modelRoot([...model]).toString('hex'));
      }),
    );
  });

  it('proves each value, and of each other key that it has none; no other value, and no value away', () => {
    fc.assert(
      fc.property(entries, fc.array(keys, { maxLength: 5 }), (pairs, others) => {
        const map = mapOf(pairs);
        const model = new Map(pairs);
        for (const key of [...model.keys(), ...others]) {
          const proof = map.prove(key);
          const value = model.get(key) ?? null;
          expect(map.get(key)).toBe(value);
          expect(verifyMapProof(map.root, { key, value }, proof)).toBe(true);
          expect(verifyMapProof(map.root, { key, value: hexOf('another') }, proof)).toBe(false);
          if (value !== null) expect(verifyMapProof(map.root, { key, value: null }, proof)).toBe(false);
          if (value !== null) expect(verifyMapProof(map.root, { key, value: null }, { siblings: [] })).toBe(false);
        }
      }),
    );
  });
});

const amounts = fc.array(fc.bigInt({ min: 0n, max: 10n ** 40n }), { minLength: 1, maxLength: 70 });

function leaf(row: number, amount: bigint): SumNode {
  const place = { agent_id: 7, rail: 'usdc', row, leaf_index: 3 * row, payload_hash: hexOf(row) };
  return sumLeaf({ ...place, amount: atomicAmount(amount) });
}

function treeOf(rows: readonly bigint[]) {
  let sums: GrowingSum = { rows: 0, peaks: [] };
  const nodes = new Map<string, SumNode>();
  for (const [row, amount] of rows.entries()) {
    const grown = appendSum(sums, leaf(row, amount));
    for (const { level, index, node } of grown.kept) nodes.set(`${level}/${index}`, node);
    sums = grown.sums;
  }
  const read = ({ level, index }: { level: number; index: number }): SumNode => {
    const node = nodes.get(`${level}/${index}`);
    if (!node) throw new Error(`no node ${level}/${index}`);
    return node;
  };
  return { root: sumRoot(sums.peaks), peaks: sums.peaks, read };
}

describe('the sum tree', () => {
  it('comes to the sum of its rows, and proves each of them', () => {
    fc.assert(
      fc.property(amounts, rows => {
        const { root, read } = treeOf(rows);
        expect(root.sum).toBe(rows.reduce((sum, amount) => sum + amount, 0n));
        for (const [row, amount] of rows.entries()) {
          const path = sumPath(row, rows.length, read);
          expect(sumNodes(row, rows.length).every(it => read(it))).toBe(true);
          expect(rootOfRow(leaf(row, amount), row, rows.length, path)).toEqual(root);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('is another tree for another amount, a row left out, a row moved, or a sum shifted between neighbours', () => {
    fc.assert(
      fc.property(
        fc.array(fc.bigInt({ min: 1n, max: 10n ** 20n }), { minLength: 2, maxLength: 40 }),
        fc.nat(),
        (rows, at) => {
          const row = at % rows.length;
          const amount = rows[row] ?? 0n;
          const { root, read } = treeOf(rows);
          const path = sumPath(row, rows.length, read);
          const hashes = (node: SumNode | null) => node?.hash.toString('hex');
          expect(hashes(rootOfRow(leaf(row, amount + 1n), row, rows.length, path))).not.toBe(hashes(root));
          expect(hashes(treeOf(rows.toSpliced(row, 1)).root)).not.toBe(hashes(root));
          expect(rootOfRow(leaf(row, amount), row, rows.length + rows.length, path)).not.toEqual(root);
          const [first, ...rest] = path as [SumNode, ...SumNode[]];
          const shifted = [{ ...first, sum: atomicAmount(first.sum + 1n) }, ...rest];
          expect(hashes(rootOfRow(leaf(row, amount), row, rows.length, shifted))).not.toBe(hashes(root));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('takes no sum below zero, none that wraps, and no hash that is none', () => {
    const hash = hexOf(1);
    for (const sum of ['-1', '1.0', '01', '', (1n << 256n).toString(), '+1', '0x1'])
      expect(shownNode({ sum, hash })).toBeNull();
    expect(shownNode({ sum: '0', hash })).toEqual({ sum: 0n, hash: Buffer.from(hash, 'hex') });
    expect(shownNode({ sum: '0', hash: hash.slice(1) })).toBeNull();
    const most = { sum: atomicAmount((1n << 256n) - 1n), hash: Buffer.from(hash, 'hex') };
    expect(() => sumRoot([most, leaf(1, 1n)])).toThrow(RangeError);
  });
});
