import { beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../../subgraphs/database.ts';
import type { Mismatch } from '../../../../subgraphs/receipt/log/halt.ts';
import {
  refuseWritesWhileHalted,
  requireNotHalted,
  resultUnlessHalted,
} from '../../../../subgraphs/receipt/log/halt-guard.ts';
import { freshStore } from '../../../harness/store.ts';

const mismatch: Mismatch = {
  known: { tree_size: 5, root_hash: 'a'.repeat(64) },
  found: { tree_size: 3, root_hash: 'b'.repeat(64) },
};

let store: Database;
let guarded: Database;
let halt: Mismatch | null;
beforeAll(async () => {
  store = await freshStore();
  guarded = refuseWritesWhileHalted(store, () => halt);
  await store.query({ text: 'create table kept (word text)' });
});

const kept = async () =>
  (await store.query<{ word: string }>({ text: 'select word from kept order by 1' })).map(row => row.word);
const insert = (word: string) => ({ text: 'insert into kept (word) values ($1)', values: [word] });

describe('a database that may have gone back', () => {
  it('is written while nothing is known of it', async () => {
    halt = null;
    await guarded.query(insert('first'));
    await guarded.transaction(async tx => tx.write(insert('second')));
    expect(await kept()).toEqual(['first', 'second']);
    expect(resultUnlessHalted(guarded, null)).toBeNull();
  });

  it.each([
    ['insert', insert('third')],
    ['update', { text: `update kept set word = 'third'` }],
    ['update under a name', { text: `update kept as k set word = 'third'` }],
    ['delete', { text: 'delete from kept' }],
    ['a write within a read', { text: `with gone as (delete from kept returning word) select * from gone` }],
    ['a number that is taken', { text: `select nextval('agent_id_seq')` }],
  ])('takes no statement that writes: %s', async (_, statement) => {
    halt = mismatch;
    await expect(guarded.query(statement)).rejects.toMatchObject({ extensions: { code: 'unavailable' } });
    expect(await kept()).toEqual(['first', 'second']);
  });

  it('takes no transaction, and undoes one during which it became known', async () => {
    halt = mismatch;
    await expect(guarded.transaction(async tx => tx.write(insert('third')))).rejects.toMatchObject({
      extensions: { code: 'unavailable' },
    });
    halt = null;
    const caught = guarded.transaction(async tx => {
      await tx.query(insert('third'));
      halt = mismatch;
    });
    await expect(caught).rejects.toMatchObject({ extensions: { code: 'unavailable' } });
    expect(await kept()).toEqual(['first', 'second']);
  });

  it('is read, by a transaction too that says so; and Postgres holds that one to it', async () => {
    halt = mismatch;
    expect(await guarded.query({ text: 'select word from kept' })).toHaveLength(2);
    const count = async () =>
      guarded.transaction(async tx => (await tx.query('select 1 from kept')).rows.length, { read_only: true });
    expect(await count()).toBe(2);
    const writing = guarded.transaction(tx => tx.query(insert('third')), { read_only: true });
    await expect(writing).rejects.toThrow();
    expect(await kept()).toEqual(['first', 'second']);
  });

  it('is not said to hold what is whole, or not to hold what is not found', () => {
    halt = mismatch;
    expect(() => requireNotHalted(guarded)).toThrow();
    expect(() => resultUnlessHalted(guarded, null)).toThrow();
    expect(resultUnlessHalted(guarded, 'found')).toBe('found');
    // Only the guarded store reports the halt, not the database itself.
    expect(() => requireNotHalted(store)).not.toThrow();
  });
});
