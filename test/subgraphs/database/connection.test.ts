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
