import { beforeAll, describe, expect, it } from 'vitest';
import { agentId } from '../../../../schema/ids.ts';
import { arrive } from '../../../../subgraphs/book/ledger/arrive.ts';
import { readHistory, readRecord } from '../../../../subgraphs/book/record/read.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { auditBooks } from '../../../harness/faults/audit-books.ts';
import { insertRowsAt } from '../../../harness/ledger/dated-rows.ts';
import { collectAll, vouchedCollection, withBooks } from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

const blocked = { evidence: 'policy_blocked', collected: false, amount: null, rail: null, payment_ref: null } as const;
const nothing = { rows: '0', blocked: '0', hubs: '0', networks: [], spend: [] };

let database: Database;
beforeAll(async () => {
  database = await freshStore();
});

async function today(): Promise<string> {
  const text = `select to_char(now() at time zone 'UTC', 'YYYY-MM-DD') as day`;
  const [found] = await database.query<{ day: string }>({ text });
  return found?.day ?? '';
}

describe('the record card of an agent', () => {
  it('tells days and ranges of all that happened before today', async () => {
    await withBooks(database, 1);
    const at = '2026-03-31T23:59:59.000Z';
    await insertRowsAt(database, 1, [
      ...Array.from({ length: 11 }, () => ({ at })),
      { at, hub: 'south', payment_ref: 'solana:5x' },
      { at, ...blocked },
    ]);
    const day = await today();
    expect(await readRecord(database, 1)).toEqual({
      agentId: 1,
      memberSince: day,
      asOf: day,
      rows: '10-99',
      blocked: '1-9',
      hubs: '1-9',
      networks: ['base', 'solana'],
      spend: [{ rail: 'usdc', amount: '10000-99999' }],
      offBoard: null,
    });
  });

  it('says nothing of what happens today, so that nobody sees when', async () => {
    await withBooks(database, 2);
    expect(await readRecord(database, 2)).toMatchObject(nothing);
    await insertRowsAt(database, 2, [
      { at: `${await today()}T00:00:00.000Z` },
      { at: new Date().toISOString(), ...blocked },
    ]);
    expect(await readRecord(database, 2)).toMatchObject(nothing);
  });

  it('is of no agent that is not there', async () => {
    expect(await readRecord(database, 99)).toBeNull();
    expect(await readHistory(database, agentId(99))).toBeNull();
  });
});

describe('the off-board history of a book', () => {
  it('is exact and up to this moment', async () => {
    await withBooks(database, 3);
    expect(await readHistory(database, agentId(3))).toEqual({
      byRail: [],
      byEvidence: [],
      byMonth: [],
      firstCollectedAt: null,
      lastCollectedAt: null,
    });
    const times = ['2026-02-28T23:59:59.999Z', '2026-03-01T00:00:00.000Z', '2026-03-31T23:59:59.999Z'];
    await insertRowsAt(database, 3, [...times.map(at => ({ at })), { at: '2026-04-01T00:00:00.000Z', ...blocked }]);
    expect(await readHistory(database, agentId(3))).toEqual({
      byRail: [{ rail: 'usdc', count: 3, amount: 6000n }],
      byEvidence: [
        { evidence: 'collected', rows: 3 },
        { evidence: 'policy_blocked', rows: 1 },
      ],
      byMonth: [
        { month: '2026-02', rows: 1 },
        { month: '2026-03', rows: 2 },
        { month: '2026-04', rows: 1 },
      ],
      firstCollectedAt: new Date(times[0] ?? ''),
      lastCollectedAt: new Date('2026-04-01T00:00:00.000Z'),
    });
  });

  it('follows a row that is seen to arrive, and one that never did', async () => {
    await withBooks(database, 4);
    await database.transaction(tx => collectAll(tx, [vouchedCollection(4, 1), vouchedCollection(4, 2)]));
    const evidence = async () => (await readHistory(database, agentId(4)))?.byEvidence;
    expect(await evidence()).toEqual([{ evidence: 'RECORDED_BY_SETTLE', rows: 2 }]);
    const seen = { ref: 'base:0x1', confirmed_at: '2026-03-01T00:00:00.000Z' };
    await database.transaction(tx =>
      arrive(tx, [
        { task_id: 'task_4_1', to: 'collected', ingress_receipt: seen },
        { task_id: 'task_4_2', to: 'ARRIVAL_UNVERIFIED', omission_rule: 'no_ingress_receipt' },
      ]),
    );
    expect(await evidence()).toEqual([
      { evidence: 'ARRIVAL_UNVERIFIED', rows: 1 },
      { evidence: 'collected', rows: 1 },
    ]);
  });

  it('is counted in the transaction of the rows, all or nothing, and is what they show', async () => {
    await withBooks(database, 5);
    const broken = database.transaction(async tx => {
      await collectAll(tx, [vouchedCollection(5, 100)]);
      throw new Error('something else of the transaction broke');
    });
    await expect(broken).rejects.toThrow('something else');
    expect((await readHistory(database, agentId(5)))?.byEvidence).toEqual([]);
    await auditBooks(database);
  });
});
