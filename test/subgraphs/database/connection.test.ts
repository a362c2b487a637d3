import type pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../subgraphs/database.ts';
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
