import type pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Database, Tx } from '../../../subgraphs/database.ts';
import { freshStore } from '../../harness/store.ts';

let database: Database;
beforeAll(async () => {
  database = await freshStore();
});

const killSelf = 'select pg_terminate_backend(pg_backend_pid())';

describe('a connection that breaks', () => {
  it('inside a transaction fails that transaction, and neither the process nor the next one', async () => {
    await expect(database.transaction(tx => tx.query(killSelf))).rejects.toThrow();
    expect(await database.transaction(async tx => (await tx.query('select 1 as one')).rows)).toEqual([{ one: 1 }]);
  });

  it('while its transaction does nothing is noticed at the commit', async () => {
    const broken = database.transaction(async tx => {
      const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
      await database.query({ text: 'select pg_terminate_backend($1)', values: [rows[0]?.pid] });
      await new Promise(setImmediate);
    });
    await expect(broken).rejects.toThrow();
    expect(await database.query({ text: 'select 1 as one' })).toEqual([{ one: 1 }]);
  });
});

describe('the first statement of a transaction, which is sent together with its begin', () => {
  const rows = () => database.query({ text: 'select count(*)::int as kept from begun' });
  beforeAll(() => database.query({ text: 'create table begun (note text)' }));
  const insert = { name: 'insert into begun', text: `insert into begun values ('one')` };

  it('is rolled back with the transaction', async () => {
    const work = async (tx: Tx) => {
      tx.write(insert);
      throw new Error('given up');
    };
    for (let times = 0; times < 3; times++) await expect(database.transaction(work)).rejects.toThrow('given up');
    expect(await rows()).toEqual([{ kept: 0 }]);
  });

  it('does not run if the begin fails, and the connection is replaced', async () => {
    // All connections of the pool forget the statement with which transactions begin.
    const connections = Array.from({ length: database.usage().open }, () =>
      database.transaction(async tx => {
        await tx.query('deallocate all');
        await new Promise(setImmediate);
      }),
    );
    await Promise.all(connections);
    const begun = async () =>
      database
        .transaction(tx => tx.query(insert))
        .then(
          () => 'kept',
          () => 'failed',
        );
    const outcomes: string[] = [];
    for (let times = 0; times <= connections.length; times++) outcomes.push(await begun());
    expect(outcomes).toContain('failed');
    expect(outcomes.at(-1)).toBe('kept');
    expect(await rows()).toEqual([{ kept: outcomes.filter(outcome => outcome === 'kept').length }]);
  });

  it('keeps what follows it from running if the begin fails', async () => {
    const follow = { text: `insert into begun values ('two')` };
    const before = await rows();
    const connections = Array.from({ length: database.usage().open }, () =>
      database.transaction(async tx => {
        await tx.query('deallocate all');
        await new Promise(setImmediate);
      }),
    );
    await Promise.all(connections);
    const failed = database.transaction(async tx => {
      tx.write(insert);
      tx.write(follow);
      await tx.query({ ...follow });
    });
    await expect(failed).rejects.toMatchObject({ code: '26000' });
    expect(await rows()).toEqual(before);
  });

  it('waits with statements that change something, and sends others at once', async () => {
    const sent = await database.transaction(async tx => {
      tx.write(insert);
      const read = tx.query<{ kept: number }>({
        text: 'select count(*)::int as kept from begun',
        changes_nothing: true,
      });
      tx.write({ text: `insert into begun values ('three')` });
      const after = tx.query<{ kept: number }>({
        text: 'select count(*)::int as kept from begun',
        changes_nothing: true,
      });
      const [first, second] = await Promise.all([read, after]);
      return (second.rows[0]?.kept ?? 0) - (first.rows[0]?.kept ?? 0);
    });
    expect(sent).toBe(1);
  });

  it('may be any kind of statement, and its rows are returned', async () => {
    const answers = [];
    for (let times = 0; times < 3; times++) {
      answers.push(await database.transaction(async tx => (await tx.query('select 1 as one')).rows));
      answers.push(
        await database.transaction(
          async tx => (await tx.query({ name: 'two', text: 'select $1::int as two', values: [2] })).rows,
        ),
      );
    }
    expect(answers).toEqual([1, 2, 3].flatMap(() => [[{ one: 1 }], [{ two: 2 }]]));
  });

  it('is not needed: a transaction without statements returns its result', async () => {
    expect(await database.transaction(async () => 'nothing')).toBe('nothing');
  });
});

it('nothing is sent for a transaction that is over', async () => {
  let late: Promise<unknown> = Promise.resolve();
  const over = database.transaction(async tx => {
    await tx.query('select 1');
    late = new Promise(setImmediate).then(() => tx.query('select 2'));
    late.catch(() => {});
    throw new Error('given up');
  });
  await expect(over).rejects.toThrow('given up');
  await expect(late).rejects.toThrow('after its transaction');
});

describe('a session that a library gives back twice', () => {
  it.each([
    ['by a promise', (pool: pg.Pool) => pool.connect().then(client => () => client.release())],
    [
      'by a callback',
      (pool: pg.Pool) =>
        new Promise<() => void>(taken => pool.connect((_error, _client, release) => taken(() => release()))),
    ],
  ])('%s is given back once, and is not lost to the pool', async (_name, take) => {
    const pool = database.openPool(1);
    try {
      const release = await take(pool);
      release();
      expect(release).not.toThrow();
      expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
      expect([pool.totalCount, pool.idleCount]).toEqual([1, 1]);
    } finally {
      await pool.end();
    }
  });
});

it('a library that waits for a session in vain is handed nothing to give back', async () => {
  const pool = database.openPool(1);
  const held = await pool.connect();
  const heard = new Promise<unknown[]>(done => pool.connect((...answer: unknown[]) => done(answer)));
  const [error, client, release] = await heard;
  expect(error).toMatchObject({ message: expect.stringContaining('timeout') });
  expect([client, typeof release]).toEqual([undefined, 'undefined']);
  held.release();
  await pool.end();
});
