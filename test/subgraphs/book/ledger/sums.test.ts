import { beforeAll, describe, expect, it } from 'vitest';
import type { TaskId } from '../../../../schema/ids.ts';
import { annul } from '../../../../subgraphs/book/ledger/annul.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { keepCalls } from '../../../../subgraphs/session/delegation/count-spent.ts';
import type { ClaimSession } from '../../../../subgraphs/session/delegation/hold.ts';
import { auditBooks } from '../../../harness/faults/audit-books.ts';
import { collectAll, collection, withBooks } from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

const sumsOf = (database: Database, agent: number) =>
  database.query({
    text: `select dimension, bucket, rail, sum(count)::int as count, sum(amount) as amount, min(first_seq) as first,
      max(last_seq) as last from book_sum where agent_id = $1 group by 1, 2, 3 order by 1, 2, 3`,
    values: [agent],
  });

describe('the sums of a book', () => {
  let database: Database;
  beforeAll(async () => {
    database = await freshStore();
  });

  it('are counted in the transaction of the rows, all or nothing', async () => {
    await withBooks(database, 7);
    await database.transaction(tx => collectAll(tx, [collection(7, 1), collection(7, 2), collection(7, 4)]));
    const broken = database.transaction(async tx => {
      await collectAll(tx, [collection(7, 5)]);
      throw new Error('something else of the transaction broke');
    });
    await expect(broken).rejects.toThrow('something else');
    const all = { rail: 'usdc', count: 3, amount: 6000n, first: 1, last: 3 };
    expect(await sumsOf(database, 7)).toEqual([
      { ...all, dimension: 'day', bucket: '' },
      { ...all, dimension: 'evidence', bucket: 'collected' },
      { ...all, dimension: 'hour', bucket: '' },
      { ...all, dimension: 'hub', bucket: 'north' },
      { ...all, dimension: 'intent', bucket: '', count: 1, amount: 2000n, last: 1 },
      { ...all, dimension: 'intent', bucket: 'even', count: 2, amount: 4000n, first: 2 },
      { ...all, dimension: 'model', bucket: 'small-1' },
      { ...all, dimension: 'network', bucket: 'base' },
      { ...all, dimension: 'payer', bucket: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' },
      { ...all, dimension: 'rows', bucket: '' },
      { ...all, dimension: 'session', bucket: '' },
    ]);
    await auditBooks(database);
  });

  it('are counted exactly by many transactions at once', async () => {
    await withBooks(database, 8, 9);
    const numbers = Array.from({ length: 40 }, (_, index) => index + 10);
    await Promise.all(
      numbers.map(number =>
        database.transaction(tx => collectAll(tx, [collection(8, number), collection(9, number + 100)])),
      ),
    );
    await auditBooks(database);
  });
});

describe('the sums of a book by session', () => {
  const hash = (digit: string) => `0x${digit.repeat(64)}`;
  const paidUnder = (delegation_hash: string): ClaimSession => {
    const session = { delegation_hash, path: [delegation_hash], agent_pubkey: '0x02' };
    return { ...session, valid_after: 0, session_expiry: 1, holds: '2000' };
  };
  const bySession = (database: Database, agent: number) =>
    database.query({
      text: `select bucket, count, amount from book_sum where agent_id = $1 and dimension = 'session' order by bucket`,
      values: [agent],
    });
  /** Three rows, two of them under sessions. One of these sessions belongs to another agent than the row. */
  const underSessions = async (database: Database, agent: number) => {
    await withBooks(database, agent);
    await database.transaction(async tx => {
      keepCalls(tx, [
        { task_id: `task_${agent}_1`, agent_id: agent, under: paidUnder(hash('a')) },
        { task_id: `task_${agent}_2`, agent_id: agent + 1, under: paidUnder(hash('b')) },
      ]);
      await collectAll(
        tx,
        [1, 2, 3].map(number => collection(agent, number)),
      );
    });
  };

  it('are counted as rows land, and lose a row whose payment vanished', async () => {
    const database = await freshStore();
    await underSessions(database, 20);
    expect(await bySession(database, 20)).toEqual([
      { bucket: '', count: 2, amount: 4000n },
      { bucket: hash('a'), count: 1, amount: 2000n },
    ]);
    await database.transaction(tx =>
      annul(tx, [
        {
          task_id: 'task_20_1',
          correction_id: 'correction_20' as TaskId,
          omission_rule: 'vanished',
          reason: 'It vanished.',
        },
      ]),
    );
    expect(await bySession(database, 20)).toMatchObject([{ count: 2 }, { count: 0, amount: 0n }]);
    await auditBooks(database);
  });
});
