import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../../gateway/parts.ts';
import type { Database, Tx } from '../../../subgraphs/database.ts';
import { BATCH_BOUND, GroupCommit } from '../../../subgraphs/group-commit.ts';
import { DatabaseAway } from '../../../subgraphs/outage.ts';
import { freshDatabase } from '../../harness/database.ts';
import { atEnd } from '../../harness/release.ts';

/*
 * Two processes share a head, and one is suspended while it holds the lock. Here each process is only a set of connections; test/gateways
 * suspends real processes with SIGSTOP.
 */

let url: string;
let still: Database;
let other: Database;

beforeAll(async () => {
  url = (await freshDatabase()).url;
  [still, other] = [await openStore(url), await openStore(url)];
  atEnd(() => Promise.all([still.close(), other.close()]));
  await still.query({ text: 'create table head (name text primary key, moves integer not null default 0)' });
});

let heads = 0;
async function newHead(): Promise<string> {
  const name = `head ${++heads}`;
  await still.query({ text: 'insert into head values ($1)', values: [name] });
  return name;
}

const hold = (name: string) => ({
  name: 'hold',
  text: 'select 1 from head where name = $1 for update',
  values: [name],
});
const move = (name: string) => ({ text: 'update head set moves = moves + 1 where name = $1', values: [name] });
const movesOf = async (name: string) =>
  (await other.query<{ moves: number }>({ text: 'select moves from head where name = $1', values: [name] }))[0]?.moves;

/** Runs `work` and then keeps the transaction open until the returned function is called. */
function standingIn(database: Database, work: (tx: Tx) => Promise<unknown>, bound?: { ms_max: number }) {
  const standing = Promise.withResolvers<void>();
  const resumed = Promise.withResolvers<void>();
  let runs = 0;
  const done = database.transaction(async tx => {
    runs += 1;
    await work(tx);
    standing.resolve();
    await resumed.promise;
    return runs;
  }, bound);
  return { standing: standing.promise, resume: () => resumed.resolve(), done };
}

/** Number of server processes that hold a lock on the table of heads. */
const HOLDERS = `select count(*)::int as n from pg_locks l join pg_class c on c.oid = l.relation
  where c.relname = 'head' and l.mode = 'RowShareLock'`;
const nobodyHolds = () => expect.poll(async () => (await other.query({ text: HOLDERS }))[0]?.n).toBe(0);

describe('a transaction that stands still with a head in hand', () => {
  it('has half as long as others wait for the head', async () => {
    const names = ['lock_timeout', 'idle_in_transaction_session_timeout'];
    const text = 'select setting::int as ms from pg_settings where name = any($1) order by name desc';
    const [wait, still] = await other.query<{ ms: number }>({ text, values: [names] });
    expect(wait).toEqual({ ms: 2_000 });
    expect(still).toEqual({ ms: 1_000 });
  });

  it('loses it before those who wait give up; woken, it is done again from its beginning', async () => {
    const name = await newHead();
    const { standing, resume, done } = standingIn(still, async tx => {
      await tx.query(hold(name));
      await tx.query(move(name));
    });
    await standing;
    await other.transaction(tx => tx.query(move(name)));
    expect(await movesOf(name)).toBe(1);
    resume();
    expect(await done).toBe(2);
    expect(await movesOf(name)).toBe(2);
  });

  it('loses it also where it stands in the midst of what it says, within two waits for a lock', async () => {
    const name = await newHead();
    const half = async (tx: Tx) => {
      await tx.query(hold(name));
      const half = new pg.Query('select 1');
      // The rest of the query and the end of the message group are never sent, so the session does not look idle to the server.
      half.submit = connection => connection.parse({ name: 'half', text: 'select 1', types: [] }, true);
      half.on('error', () => {});
      void tx.query(half as unknown as pg.QueryConfig).catch(() => {});
    };
    const { standing, resume, done } = standingIn(still, half, BATCH_BOUND);
    await standing;
    const queue = new GroupCommit<string, number>(
      other,
      async (tx, names) => {
        for (const one of names) await tx.query(move(one));
        return names.map(() => 1);
      },
      64,
    );
    expect(await Promise.all([queue.submit(name), queue.submit(name)])).toEqual([1, 1]);
    expect(await movesOf(name)).toBe(2);
    resume();
    // The driver fails because it cannot interpret the answer to half a query.
    await done.catch(() => {});
  });
});

describe('a transaction whose time runs out', () => {
  it('while the server commits it: nothing of it stands, and nothing is in doubt', async () => {
    await still.query({
      text: `create function dawdle() returns trigger language plpgsql as $$ begin perform pg_sleep(20); return null; end $$;
        create table dawdled (name text);
        create constraint trigger late after insert on dawdled deferrable initially deferred
          for each row execute function dawdle()`,
    });
    const dawdling = still.transaction(tx => tx.query(`insert into dawdled values ('x')`), { ms_max: 500 });
    await expect(dawdling).rejects.toMatchObject({ code: 'unavailable', in_doubt: false });
    expect(await other.query({ text: 'select 1 from dawdled' })).toEqual([]);
  });

  it('has run out by our bound alone, whatever the operator of the database has set', async () => {
    const database = new URL(url).pathname.slice(1);
    await other.query({ text: `alter database ${database} set transaction_timeout = '7s'` });
    const bounded = await openStore(url);
    atEnd(() => bounded.close());
    const show = { text: `select current_setting('transaction_timeout') as bound` };
    const inside = await bounded.transaction(async tx => (await tx.query(show)).rows, { ms_max: 4_000 });
    expect([inside, await bounded.query(show)]).toEqual([[{ bound: '4s' }], [{ bound: '0' }]]);
  });
});

describe('a head that is held for longer than anybody waits', () => {
  const held = async (name: string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query('begin');
    await client.query(hold(name));
    return client;
  };

  it('is waited for twice, and whoever waits is told 503: nothing stands', async () => {
    const name = await newHead();
    const holder = await held(name);
    let runs = 0;
    const waiting = other.transaction(tx => {
      runs += 1;
      return tx.query(move(name));
    });
    await expect(waiting).rejects.toBeInstanceOf(DatabaseAway);
    await expect(waiting).rejects.toMatchObject({ code: 'unavailable', in_doubt: false });
    expect(runs).toBe(2);
    await holder.end();
    await nobodyHolds();
    expect(await movesOf(name)).toBe(0);
  });

  it('is waited for by a batch as a whole, and not by each of it in turn', async () => {
    const name = await newHead();
    const holder = await held(name);
    let runs = 0;
    const queue = new GroupCommit<string, undefined>(
      other,
      async (tx, names) => {
        runs += 1;
        await tx.query(hold(name));
        return names.map(() => undefined);
      },
      64,
    );
    const told = await Promise.allSettled(Array.from({ length: 20 }, () => queue.submit(name)));
    expect(new Set(told.map(one => (one.status === 'rejected' ? one.reason : null))).size).toBe(1);
    expect(runs).toBe(2);
    await holder.end();
  });
});
