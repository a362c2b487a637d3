import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openIssuer } from '../../../../subgraphs/receipt/issuer/signing-keys.ts';
import { checkpoint, tlogProof } from '../../../../subgraphs/receipt/log/checkpoint.ts';
import { entryBundle, tile, tileAddress } from '../../../../subgraphs/receipt/log/tiles.ts';
import { receiptsByTask } from '../../../../subgraphs/receipt/receipt/find.ts';
import { LogFollower, tilePathOf, tilesOf } from '../../../harness/log/follower.ts';
import { encode, leafOf, openCheckpoint, openProof } from '../../../harness/log/note.ts';
import { type ReceiptDatabase, receiptDatabase } from '../../../harness/receipt/database.ts';

const ORIGIN = 'svc.example/log';
const issuer = openIssuer(['22'.repeat(32)], { base_url: 'https://svc.example', now_ms: () => 0 });
const [key = ''] = issuer.verifierKeys(ORIGIN);

let database: ReceiptDatabase;
beforeAll(async () => {
  database = await receiptDatabase();
});
afterAll(() => database.close());

const names = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `task_${from + at}`);

async function newest(tree_size: number | null = null) {
  const found = await checkpoint({ database, issuer, witnesses: [] }, { tree_size });
  if (found.kind !== 'known') throw new Error(found.kind);
  return found;
}

/** Answers a path of the log as the endpoints do. */
async function ask(path: string): Promise<Buffer | null> {
  if (path === 'checkpoint') return Buffer.from((await newest()).note);
  const [, level = '', rest = ''] = /^tile\/(\d+)\/(.*)$/.exec(path) ?? [];
  const address = tileAddress(level, rest);
  return address && tile(database, address);
}

describe('the log in tiles', () => {
  it('begins with a checkpoint of nothing', async () => {
    expect(openCheckpoint((await newest()).note, key)).toMatchObject({ origin: ORIGIN, size: 0 });
  });

  it('is followed from head to head by whoever knows C2SP and one key: each root is computed, each extends the last', async () => {
    const follower = new LogFollower(ask, key);
    const sizes = [1, 255, 256, 257, 520];
    for (const [at, size] of sizes.entries()) {
      await database.issue(issuer, ...names(sizes[at - 1] ?? 0, size));
      expect(await follower.follow()).toMatchObject({ origin: ORIGIN, size });
    }
  });

  it('serves the partial tiles of every head that was signed', async () => {
    for (const size of [1, 255, 256, 257, 520])
      for (const { level, path } of tilesOf(size)) expect(await ask(`tile/${level}/${path}`), path).not.toBeNull();
  });

  it.each([
    ['0', 'x000/000', 'an index spelled otherwise'],
    ['0', '0', 'an index of one digit'],
    ['0', '000.p/0', 'an empty tile'],
    ['0', '000.p/256', 'a whole tile as a partial one'],
    ['0', '000.p/010', 'a width with a zero before it'],
    ['0', '../000', 'a path that climbs'],
    ['00', '000', 'a level spelled otherwise'],
    ['64', '000', 'a level beyond the tallest tree'],
    ['-1', '000', 'a level below the leaves'],
  ])('names none by %s/%s: %s', (level, path) => {
    expect(tileAddress(level, path)).toBeNull();
  });

  it('spells each index in one way, and reads it back', () => {
    fc.assert(
      fc.property(fc.nat(63), fc.nat(999_999_999), fc.integer({ min: 1, max: 256 }), (level, index, width) => {
        const path = width === 256 ? tilePathOf(index) : `${tilePathOf(index)}.p/${width}`;
        expect(tileAddress(String(level), path)).toEqual({ level, index, width });
      }),
    );
  });

  it.each([
    ['0', 'x001/000'],
    ['0', '002.p/9'],
    ['1', '000'],
    ['63', '000'],
  ])('has no tile %s/%s yet', async (level, path) => {
    expect(await ask(`tile/${level}/${path}`)).toBeNull();
  });

  it('bundles what the leaves are of: each entry hashes to its leaf', async () => {
    const bundle = (await entryBundle(database, { index: 1, width: 256 })) ?? Buffer.alloc(0);
    const leaves = (await tile(database, { level: 0, index: 1, width: 256 })) ?? Buffer.alloc(0);
    const found: string[] = [];
    for (let at = 0; at < bundle.length; ) {
      const length = bundle.readUInt16BE(at);
      found.push(encode(leafOf(bundle.subarray(at + 2, at + 2 + length))));
      at += 2 + length;
    }
    expect(found).toEqual(Array.from({ length: 256 }, (_, at) => encode(leaves.subarray(at * 32, at * 32 + 32))));
    expect(await entryBundle(database, { index: 9, width: 256 })).toBeNull();
  });

  it('proves a receipt by one text, and no other bytes under it', async () => {
    for (const task of ['task_0', 'task_255', 'task_256', 'task_519']) {
      const proof = await tlogProof({ database, issuer, witnesses: [] }, task);
      const [receipt] = await receiptsByTask(database, [task]);
      if (proof.kind !== 'proven' || !receipt) throw new Error(task);
      const entry = Buffer.from(receipt.payload);
      expect(openProof(proof.text, entry, key)).toMatchObject({ size: 520, index: receipt.leafIndex });
      expect(() => openProof(proof.text, Buffer.concat([entry, Buffer.of(32)]), key)).toThrow(
        'does not lead to the root',
      );
    }
    expect(await tlogProof({ database, issuer, witnesses: [] }, 'task_none')).toEqual({ kind: 'unknown' });
  });

  it('states heads that were signed, and none between two batches', async () => {
    expect(openCheckpoint((await newest(257)).note, key)).toMatchObject({ size: 257 });
    expect(await checkpoint({ database, issuer, witnesses: [] }, { tree_size: 258 })).toEqual({ kind: 'unknown' });
  });

  it('states nothing of a head that the issuer did not sign so', async () => {
    const other = await receiptDatabase();
    try {
      await other.issue(issuer, 'task_a', 'task_b');
      await other.query({ text: `update tree_head set root_hash = repeat('00', 32)` });
      await expect(checkpoint({ database: other, issuer, witnesses: [] })).rejects.toThrow('not as it was signed');
    } finally {
      await other.close();
    }
  });

  it('states nothing while the log is halted', async () => {
    await database.query({ text: `update log_head set halted = '{}'` });
    try {
      expect(await checkpoint({ database, issuer, witnesses: [] })).toEqual({ kind: 'halted' });
      expect(await tlogProof({ database, issuer, witnesses: [] }, 'task_0')).toEqual({ kind: 'halted' });
    } finally {
      await database.query({ text: 'update log_head set halted = null' });
    }
  });

  it('says that a record is damaged where an entry is not what its leaf is of', async () => {
    await database.query({ text: `update receipt set payload = payload || ' ' where task_id = 'task_3'` });
    await expect(entryBundle(database, { index: 0, width: 8 })).rejects.toMatchObject({ code: 'record_damaged' });
  });
});
