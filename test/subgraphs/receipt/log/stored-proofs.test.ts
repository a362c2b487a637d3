import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openIssuer } from '../../../../subgraphs/receipt/issuer/signing-keys.ts';
import {
  consistencyPath,
  inclusionNodes,
  inclusionPath,
  type NodeAddress,
  type NodeReader,
  peaksOf,
} from '../../../../subgraphs/receipt/log/merkle-tree.ts';
import { consistencyProof, inclusionOf, storedRoot } from '../../../../subgraphs/receipt/log/stored-proofs.ts';
import { leafHash, nodeHash, rootOf } from '../../../../subgraphs/receipt/verify/merkle-proof.ts';
import { type ReceiptDatabase, receiptDatabase } from '../../../harness/receipt/database.ts';

const SIZE = 203;
const issuer = openIssuer(['22'.repeat(32)], { base_url: 'https://svc.example', now_ms: () => 0 });

interface Leaf {
  readonly taskId: string;
  readonly leafIndex: number;
  readonly payload: string;
}

let database: ReceiptDatabase;
let leaves: readonly Leaf[] = [];
beforeAll(async () => {
  database = await receiptDatabase();
  const { receipts } = await database.issue(issuer, ...Array.from({ length: SIZE }, (_, at) => `task_${at}`));
  leaves = receipts.map(({ taskId, leafIndex, payload }) => ({ taskId, leafIndex, payload }));
});
afterAll(() => database.close());

/** Nodes that are computed from the payloads only, without stored nodes. */
const computed: NodeReader = ({ level, index }) =>
  level === 0
    ? leafHash(leafAt(index).payload)
    : nodeHash(computed({ level: level - 1, index: 2 * index }), computed({ level: level - 1, index: 2 * index + 1 }));

function leafAt(index: number): Leaf {
  const leaf = leaves[index];
  if (!leaf) throw new Error(`no leaf ${index}`);
  return leaf;
}

const size = fc.integer({ min: 1, max: SIZE });
/** The size of a tree and a smaller number, which is a leaf or the size of an earlier tree. */
const within = size.chain(all => fc.tuple(fc.constant(all), fc.nat(all - 1)));

/** A reader of the stored nodes that counts its statements. */
function counting() {
  const counted = { statements: 0 };
  const query = <R extends pg.QueryResultRow>(statement: pg.QueryConfig) => {
    counted.statements += 1;
    return database.query<R>(statement);
  };
  return Object.assign(counted, { query });
}

describe('proofs from stored nodes', () => {
  it('are those of the tree computed from its leaves, of any leaf in any tree, in one statement', async () => {
    await fc.assert(
      fc.asyncProperty(within, async ([all, leaf_index]) => {
        const nodes = counting();
        const { path, root } = await inclusionOf(nodes, leafAt(leaf_index), all, null);
        expect(path).toEqual(inclusionPath(leaf_index, all, computed));
        expect(root).toEqual(rootOf(peaksOf(0, all).map(computed)));
        expect(nodes.statements).toBe(1);
      }),
    );
  });

  it('say the same of any earlier tree', async () => {
    await fc.assert(
      fc.asyncProperty(within, async ([all, old_size]) => {
        const nodes = counting();
        expect(await consistencyProof(nodes, old_size, all)).toEqual(consistencyPath(old_size, all, computed));
        expect(nodes.statements).toBe(1);
      }),
    );
  });

  it('refuse a leaf that the tree does not hold', async () => {
    await expect(inclusionOf(database, leafAt(7), 7, null)).rejects.toThrow(RangeError);
  });
});

const asked = 77;
const hex = (hash: Buffer) => hash.toString('hex');
const signedRoot = () => hex(rootOf(peaksOf(0, SIZE).map(computed)));
const nodes: readonly NodeAddress[] = [...inclusionNodes(asked, SIZE), ...peaksOf(0, 128)];
const where = ({ level, index }: NodeAddress) => `where level = ${level} and index = ${index}`;

describe('stored nodes that were harmed after a proof was made of them', () => {
  it.each(nodes)('node $index on level $level: no proof until it is as it was', async node => {
    const signed_root = signedRoot();
    const proven = await inclusionOf(database, leafAt(asked), SIZE, signed_root);
    for (const harm of [
      `update log_node set hash = sha256(hash) ${where(node)}`,
      `update log_node set hash = substr(hash, 1, 31) ${where(node)}`,
      `update log_node set hash = hash || '\\x00'::bytea ${where(node)}`,
      `update log_node set hash = '' ${where(node)}`,
      `delete from log_node ${where(node)}`,
    ]) {
      await database.query({ text: harm });
      await expect(inclusionOf(database, leafAt(asked), SIZE, signed_root), harm).rejects.toThrow(
        /^the log (does not prove that it holds task_77|holds no node )/,
      );
      await database.query({
        text: `insert into log_node values ($1, $2, $3) on conflict (level, index) do update set hash = excluded.hash`,
        values: [node.level, node.index, computed(node)],
      });
    }
    expect(await inclusionOf(database, leafAt(asked), SIZE, signed_root)).toEqual(proven);
    expect(hex(await storedRoot(database, SIZE))).toBe(signed_root);
  });
});
