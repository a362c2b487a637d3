import { beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../../gateway/parts.ts';
import type { Database, Tx } from '../../../subgraphs/database.ts';
import { GroupCommit } from '../../../subgraphs/group-commit.ts';
import { DatabaseAway } from '../../../subgraphs/outage.ts';
import { freshDatabase } from '../../harness/database.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../../harness/faults/wire.ts';
import { atEnd } from '../../harness/release.ts';

let wire: DatabaseProxy;
let database: Database;
beforeAll(async () => {
  const { url } = await freshDatabase();
  wire = await startDatabaseProxy(url);
  database = await openStore(wire.url);
  atEnd(() => database.close());
  await database.query({ text: 'create table kept (name text primary key)' });
});

const raise = (code: string) => `do $$ begin raise exception 'as told' using errcode = '${code}'; end $$`;
const insert = (name: string) => ({ name: 'keep', text: 'insert into kept values ($1)', values: [name] });
const kept = async (name: string) =>
  (await database.query({ text: 'select 1 from kept where name = $1', values: [name] })).length === 1;
const faultOf = (work: Promise<unknown>) => work.then(() => null).catch((error: unknown) => error);

describe('what the server says', () => {
  const away = ['08006', '25006', '53000', '53100', '53200', '53300', '55P03', '57P01', '57P02', '57P03', '58030'];
  it.each(away)('%s: it is away, and nothing of it is in doubt', async code => {
    for (const fault of [
      await faultOf(database.query({ text: raise(code) })),
      await faultOf(database.transaction(tx => tx.query(raise(code)))),
    ]) {
      expect(fault).toBeInstanceOf(DatabaseAway);
      expect(fault).toMatchObject({ code: 'unavailable', status: 503, in_doubt: false });
      expect((fault as DatabaseAway).extensions).not.toHaveProperty('charged');
    }
    expect(await database.query({ text: 'select 1 as one' })).toEqual([{ one: 1 }]);
  });

  it.each(['23505', '40001', '40P01', '42601', '22012', 'P0001', '57014'])('%s: it has answered', async code => {
    expect(await faultOf(database.query({ text: raise(code) }))).toMatchObject({ code });
    expect(await faultOf(database.transaction(tx => tx.query(raise(code))))).toMatchObject({ code });
  });
});

describe('a transaction', () => {
  it('that failed and would be committed all the same fails with what nobody looked at', async () => {
    const swallowing = async (tx: Tx) => {
      await tx.query(insert('swallowed'));
      await tx.query('select 1/0').catch(() => {});
    };
    expect(await faultOf(database.transaction(swallowing))).toMatchObject({ code: '22012' });
    expect(await kept('swallowed')).toBe(false);
  });

  it('that the server refuses at its commit is not in doubt', async () => {
    await database.query({
      text: `create function refuse() returns trigger language plpgsql as $$
          begin raise exception 'no room' using errcode = '53100'; end $$;
        create table refused (name text);
        create constraint trigger late after insert on refused deferrable initially deferred
          for each row execute function refuse()`,
    });
    const fault = await faultOf(database.transaction(tx => tx.query(`insert into refused values ('x')`)));
    expect(fault).toBeInstanceOf(DatabaseAway);
    expect(fault).toMatchObject({ in_doubt: false });
  });

  const ways = [
    ['lost', 'query'],
    ['done', 'query'],
    ['lost', 'write'],
    ['done', 'write'],
  ] as const;
  it.each(ways)('whose commit is not answered is in doubt; here it is %s, after a %s', async (commit, way) => {
    const name = `${commit} ${way}`;
    wire.cutNext({ statement: 'keep', commit });
    const fault = await faultOf(database.transaction(async tx => void (await tx[way](insert(name)))));
    expect(fault).toBeInstanceOf(DatabaseAway);
    expect(fault).toMatchObject({ in_doubt: true });
    expect(await kept(name)).toBe(commit === 'done');
  });

  it('that finds nobody is not in doubt', async () => {
    wire.cutNext({ statement: 'keep', commit: 'lost' }, { down: true });
    await faultOf(database.transaction(tx => tx.query(insert('nobody'))));
    for (const fault of [
      await faultOf(database.transaction(async () => {})),
      await faultOf(database.query({ text: 'select 1' })),
      await faultOf(database.transaction(tx => tx.query(insert('nobody')))),
    ]) {
      expect(fault).toBeInstanceOf(DatabaseAway);
      expect(fault).toMatchObject({ in_doubt: false });
    }
    wire.up();
    expect(await kept('nobody')).toBe(false);
  });
});

describe('what a transaction writes without waiting for an answer', () => {
  const refusedTwice = (tx: Tx) => {
    tx.write(insert('twice'));
    tx.write(insert('twice'));
  };

  it('stands with it, and in the order in which it was sent', async () => {
    const seen = await database.transaction(async tx => {
      tx.write(insert('sent before'));
      const { rowCount } = await tx.query({ text: `select 1 from kept where name = 'sent before'` });
      tx.write(insert('sent last'));
      return rowCount;
    });
    expect([seen, await kept('sent before'), await kept('sent last')]).toEqual([1, true, true]);
  });

  it('fails it with its own error, and is not in doubt', async () => {
    expect(await faultOf(database.transaction(async tx => refusedTwice(tx)))).toMatchObject({ code: '23505' });
    expect(await kept('twice')).toBe(false);
  });

  it('fails it with its own error where others were asked behind it, which heard of nothing but a failure', async () => {
    const asking = async (tx: Tx) => {
      refusedTwice(tx);
      await tx.query('select 1');
    };
    expect(await faultOf(database.transaction(asking))).toMatchObject({ code: '23505' });
    expect(await database.transaction(async tx => (await tx.query('select 1 as one')).rows)).toEqual([{ one: 1 }]);
  });

  it('fails it with its own error where a question before it failed, whose answer is awaited with others', async () => {
    const asking = async (tx: Tx) => {
      const asked = tx.query(raise('55P03'));
      tx.write(insert('behind a failure'));
      await Promise.all([tx.query('select 1'), asked]);
    };
    const fault = await faultOf(database.transaction(asking));
    expect(fault).toBeInstanceOf(DatabaseAway);
    expect(fault).toMatchObject({ in_doubt: false, passing: true });
  });

  it('fails it where it never gets to the server, which would commit without it', async () => {
    const unsendable = {
      toPostgres: () => {
        throw new Error('cannot be sent');
      },
    };
    const asking = async (tx: Tx) => {
      tx.write(insert('beside what cannot be sent'));
      tx.write({ name: 'never sent', text: 'insert into kept values ($1)', values: [unsendable] });
    };
    await expect(database.transaction(asking)).rejects.toThrow('cannot be sent');
    expect(await kept('beside what cannot be sent')).toBe(false);
    const sent = (tx: Tx) => tx.write({ name: 'never sent', text: 'insert into kept values ($1)', values: ['sent'] });
    await database.transaction(async tx => sent(tx));
    expect(await kept('sent')).toBe(true);
  });

  it('is never one statement under the name of another: that fails loudly', async () => {
    const asking = async (tx: Tx) => {
      await tx.query({ name: 'one', text: 'select 1' });
      tx.write({ name: 'one', text: 'select 2' });
    };
    await expect(database.transaction(asking)).rejects.toThrow('must be unique');
  });

  it('is rolled back with it where what is asked for at the same time comes to nothing', async () => {
    const lost = async (tx: Tx) => {
      tx.write(insert('with what is lost'));
      throw new Error('lost');
    };
    await expect(database.transaction(lost)).rejects.toThrow('lost');
    expect(await kept('with what is lost')).toBe(false);
  });

  it('says that the database is away where its server goes down', async () => {
    const fault = await faultOf(database.transaction(async tx => tx.write({ text: raise('57P01') })));
    expect(fault).toBeInstanceOf(DatabaseAway);
  });
});

describe('a group commit', () => {
  const queue = () =>
    new GroupCommit<string, string>(
      database,
      async (tx, names) => {
        for (const name of names) await tx.query(insert(name));
        return names;
      },
      64,
    );

  it('tells all at once where the database is away, and is not refused any more with the next that succeeds', async () => {
    const names = queue();
    wire.cutNext({ statement: 'keep', commit: 'lost' });
    const faults = await Promise.all(['a', 'b', 'c'].map(name => faultOf(names.submit(name))));
    for (const fault of faults) expect(fault).toBeInstanceOf(DatabaseAway);
    expect(new Set(faults).size).toBe(1);
    expect(names.refused).toBe(true);
    expect(await Promise.all(['a', 'b', 'c'].map(name => names.submit(name)))).toEqual(['a', 'b', 'c']);
    expect(names.refused).toBe(false);
  });

  it('does each again by itself where one of them is bad', async () => {
    const names = queue();
    await names.submit('twice');
    const results = await Promise.allSettled(['d', 'twice', 'e'].map(name => names.submit(name)));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(names.refused).toBe(false);
  });
});
