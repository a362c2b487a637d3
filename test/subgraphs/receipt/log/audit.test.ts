import { beforeAll, describe, expect, it } from 'vitest';
import type { Damage } from '../../../../subgraphs/receipt/log/audit.ts';
import { auditStored } from '../../../../subgraphs/receipt/log/audit-database.ts';
import { declareBreak } from '../../../../subgraphs/receipt/log/break.ts';
import { proveLogIntact } from '../../../../subgraphs/receipt/log/prove-intact.ts';
import { issuer } from '../../../harness/ledger/fixture.ts';
import { type ReceiptDatabase, receiptDatabase } from '../../../harness/receipt/database.ts';
import { atEnd } from '../../../harness/release.ts';

const SIZE = 1_100;
const BATCH = 50;

let database: ReceiptDatabase;
beforeAll(async () => {
  database = await receiptDatabase();
  atEnd(() => database.close());
  // Each transaction appends as many receipts as a batch of the service. With more, the transaction would be idle for too long while they
  // are signed.
  for (let from = 0; from < SIZE; from += BATCH)
    await database.issue(issuer, ...Array.from({ length: BATCH }, (_, index) => `task_${from + index}`));
});

async function damage(from = 0): Promise<Damage[]> {
  const all: Damage[] = [];
  for await (const page of auditStored(database, from, SIZE)) all.push(...page.damage);
  return all;
}

async function harm(text: string): Promise<void> {
  await database.query({ text });
}

describe('the audit of a stored log', () => {
  it('finds a sound log sound, from wherever it begins', async () => {
    for (const from of [0, 1, 512, 777, SIZE - 1, SIZE]) expect(await damage(from)).toEqual([]);
  });

  it.each<[what: string, harm: string, mend: string, found: Partial<Damage>[]]>([
    [
      'a receipt that was rewritten',
      `update receipt set payload = payload || ' ' where leaf_index = 600`,
      `update receipt set payload = rtrim(payload) where leaf_index = 600`,
      [{ level: 0, index: 600 }],
    ],
    [
      'a receipt that was deleted',
      `create table kept as select * from receipt where leaf_index = 3; delete from receipt where leaf_index = 3`,
      `insert into receipt table kept; drop table kept`,
      [{ level: 0, index: 3, computed: null }],
    ],
    [
      'a leaf that was rewritten',
      `create table kept as select * from log_node where level = 0 and index = 1000;
        update log_node set hash = sha256(hash) where level = 0 and index = 1000`,
      `update log_node n set hash = k.hash from kept k where (n.level, n.index) = (k.level, k.index); drop table kept`,
      [
        { level: 0, index: 1000 },
        { level: 1, index: 500 },
      ],
    ],
    [
      'a node that was deleted',
      `create table kept as select * from log_node where level = 9 and index = 0; delete from log_node where level = 9 and index = 0`,
      `insert into log_node table kept; drop table kept`,
      [{ level: 9, index: 0, stored: null }],
    ],
  ])('names %s, though the head and its proof do not touch it', async (_what, text, mend, found) => {
    await harm(text);
    try {
      const head = (await database.query({ text: `select * from tree_head order by tree_size desc limit 1` }))[0];
      expect(await proveLogIntact(database, head as never)).toMatchObject({ kind: 'intact' });
      expect(await damage()).toMatchObject(found);
      // A range that begins after the damage does not find it. A range that needs a missing node begins at that node.
      expect(await damage(SIZE - 1)).toEqual([]);
      expect(await damage(513)).toMatchObject(found.filter(({ index, level }) => level === 9 || (index ?? 0) >= 500));
    } finally {
      await harm(mend);
    }
    expect(await damage()).toEqual([]);
  });

  it('passes over what was declared, hash by hash, and nothing else', async () => {
    await harm(`update receipt set payload = payload || ' ' where leaf_index = 42`);
    const declared = await damage();
    const { found } = await proveLogIntact(database, null);
    const facts = { saved: found, found, damage: declared, reason: 'a disk', declared_at: '2026-01-02T03:04:05.678Z' };
    const document = await declareBreak(database, issuer, facts, async () => {});
    expect(document).toMatchObject({ damage: [{ level: 0, index: 42, computed: expect.any(String) }] });
    expect(await damage()).toEqual([]);

    await harm(`update receipt set payload = payload || ' ' where leaf_index = 42`);
    expect(await damage()).toMatchObject([{ level: 0, index: 42 }]);
    await harm(`update receipt set payload = left(payload, -1) where leaf_index = 42`);
    await harm(`update receipt set payload = payload || ' ' where leaf_index = 43`);
    expect(await damage()).toMatchObject([{ level: 0, index: 43 }]);
    await harm(`update receipt set payload = rtrim(payload) where leaf_index in (42, 43)`);
    expect(await damage()).toEqual([]);
  });
});
