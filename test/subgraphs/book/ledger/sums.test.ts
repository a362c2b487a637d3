import { beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../../../gateway/parts.ts';
import { BookSums } from '../../../../subgraphs/book/migration.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { databaseBeforeBaselines } from '../../../harness/before-baselines.ts';
import { auditBooks } from '../../../harness/faults/audit-books.ts';
import { collectAll, collection, withBooks } from '../../../harness/ledger/fixture.ts';
import { atEnd } from '../../../harness/release.ts';
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

describe('a database of before there were sums', () => {
  it('has every row counted that stands, once, whoever starts first', async () => {
    const url = await databaseBeforeBaselines();
    const stores = await Promise.all([openStore(url), openStore(url)]);
    for (const store of stores) atEnd(() => store.close());
    await auditBooks(stores[0]);
    const [counted] = await stores[0].query({ text: `select count(*)::int as rows from book_sum where count <> 0` });
    expect(counted?.rows).toBeGreaterThan(6);
    const names = await stores[0].query({
      text: 'select name from mikro_orm_migrations where name = $1',
      values: [BookSums.name],
    });
    expect(names).toHaveLength(1);
  });
});
