import { beforeEach, describe, expect, it } from 'vitest';
import { collect } from '../../../../subgraphs/book/ledger/collect.ts';
import type { Database, Tx } from '../../../../subgraphs/database.ts';
import { announceHalt } from '../../../../subgraphs/receipt/log/halt.ts';
import { lockLogHead } from '../../../../subgraphs/receipt/log/head.ts';
import { KnownLog } from '../../../../subgraphs/receipt/log/known-log.ts';
import { lookAtLog } from '../../../../subgraphs/receipt/log/prove-intact.ts';
import { type SignedTreeHead } from '../../../../subgraphs/receipt/log/tree-head.ts';
import { collection, issuer } from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

/*
 * Tests on real Postgres, in which a process is only its `KnownLog`. A rollback leaves what a restored dump leaves: the earlier rows, nodes
 * and head.
 */

let database: Database;
let number: number;
let queries: string[];

beforeEach(async () => {
  database = await freshStore();
  number = 0;
  queries = [];
});

const spied = (tx: Tx): Tx => ({
  query: statement => {
    queries.push(typeof statement === 'string' ? statement : (statement.name ?? ''));
    return tx.query(statement);
  },
  write: statement => tx.write(statement),
});

/** Appends a batch of that many leaves, as the recorder does. */
async function append(known: KnownLog, leaves = 1): Promise<SignedTreeHead> {
  const items = Array.from({ length: leaves }, () => collection(null, number++));
  const { tree_head } = await database.transaction(async tx =>
    collect(tx, issuer, await lockLogHead(spied(tx), known), items),
  );
  known.addCommit(tree_head);
  return tree_head;
}

const TABLES = ['log_node', 'log_head', 'tree_head', 'receipt'];

/** Copies the tables in their current state. Returns a function that restores them. */
async function dump(): Promise<() => Promise<void>> {
  for (const table of TABLES) await database.query({ text: `create table dump_${table} as table ${table}` });
  return async () => {
    for (const table of TABLES)
      await database
        .query({ text: `delete from ${table}` })
        .then(() => database.query({ text: `insert into ${table} select * from dump_${table}` }));
  };
}

const sizeOf = async () => (await database.query<{ tree_size: number }>({ text: 'select tree_size from log_head' }))[0];
const named = ({ tree_size, root_hash }: SignedTreeHead) => ({ tree_size, root_hash });
const halted = (known: SignedTreeHead, found: SignedTreeHead) => ({
  code: 'unavailable',
  mismatch: { known: named(known), found: named(found) },
});

describe('under the head’s lock', () => {
  it('one process alone asks for no proof, whatever it appends', async () => {
    const known = new KnownLog();
    await append(known);
    queries = [];
    for (const leaves of [1, 5, 64, 2]) await append(known, leaves);
    expect(queries).toEqual(Array(4).fill('lock log head'));
  });

  it('what another process appended is proven first, in one statement', async () => {
    const [ours, theirs] = [new KnownLog(), new KnownLog()];
    await append(ours, 3);
    for (const leaves of [1, 7, 2]) await append(theirs, leaves);
    queries = [];
    expect(await append(ours)).toMatchObject({ tree_size: 14 });
    expect(queries).toEqual(['lock log head', 'read log nodes']);
  });

  it('a log that went back is refused, and nothing of the batch stands', async () => {
    const known = new KnownLog();
    const older = await append(known, 3);
    const restore = await dump();
    const newest = await append(known, 2);
    await restore();
    await expect(append(known)).rejects.toMatchObject(halted(newest, older));
    expect(await sizeOf()).toEqual({ tree_size: 3 });
  });

  it('a log that went back and grew again is refused: longer, as long, or by another way of batches', async () => {
    for (const leaves of [2, 4]) {
      const known = new KnownLog();
      await append(known, 3);
      const restore = await dump();
      const newest = await append(known, 2);
      await restore();
      const forked = await append(new KnownLog(), leaves);
      await expect(append(known)).rejects.toMatchObject(halted(newest, forked));
      for (const table of TABLES) await database.query({ text: `drop table dump_${table}` });
    }
  });

  it('a node that was changed below is found where it is asked to prove what grew', async () => {
    const [ours, theirs] = [new KnownLog(), new KnownLog()];
    const newest = await append(ours, 4);
    const grown = await append(theirs, 2);
    await database.query({ text: `update log_node set hash = sha256(hash) where level = 2 and index = 0` });
    await expect(append(ours)).rejects.toMatchObject(halted(newest, grown));
  });

  it('a frontier that is not the root’s own is refused, also by whom it is the first thing that he knows', async () => {
    await append(new KnownLog(), 5);
    await database.query({ text: 'update log_head set frontier = sha256(frontier) || frontier' });
    await expect(append(new KnownLog())).rejects.toMatchObject({ code: 'unavailable' });
    await database.query({ text: `update log_head set frontier = sha256('a') || sha256('b')` });
    await expect(append(new KnownLog())).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('a halt that another process wrote is met by every batch, also by one that waited for the head meanwhile', async () => {
    const known = new KnownLog();
    const head = await append(known, 2);
    const halt = { known: named(head), found: named(head), at: '2026-01-02T03:04:05.678Z', by: 'other/1' };
    let waiting: Promise<unknown> = Promise.resolve();
    await database.transaction(async tx => {
      await lockLogHead(tx, new KnownLog());
      waiting = append(known).catch((fault: unknown) => fault);
      await tx.query({ text: 'update log_head set halted = $1', values: [JSON.stringify(halt)] });
    });
    expect(await waiting).toMatchObject(halted(head, head));
    await expect(append(new KnownLog())).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('a process that stood still with the head in hand', () => {
  it('has lost it to others by then: it halts nothing, and appends behind them', async () => {
    const known = new KnownLog();
    const newest = await append(known, 3);
    let stood = false;
    // The server ends a suspended session after a second. A notification may arrive before the answer to the lock.
    const standing = (tx: Tx): Tx => ({
      query: async statement => {
        const answer = await tx.query(statement);
        if (stood) return answer as never;
        stood = true;
        known.learnLink({ from: named(newest), to: named(await append(new KnownLog(), 2)) });
        return answer as never;
      },
      write: statement => tx.write(statement),
    });
    const { tree_head } = await database.transaction(async tx =>
      collect(tx, issuer, await lockLogHead(standing(tx), known), [collection(null, number++)]),
    );
    expect([tree_head.tree_size, known.mismatch]).toEqual([6, null]);
  });
});

describe('a commit in doubt', () => {
  it('that stands, or does not, stops nobody', async () => {
    const known = new KnownLog();
    const items = () => [collection(null, number++)];
    await append(known, 3);
    await database.transaction(async tx => collect(tx, issuer, await lockLogHead(tx, known), items()));
    expect(await append(known)).toMatchObject({ tree_size: 5 });
    const lost = database.transaction(async tx => {
      await collect(tx, issuer, await lockLogHead(tx, known), items());
      throw new Error('rolled back');
    });
    await expect(lost).rejects.toThrow('rolled back');
    expect(await append(known)).toMatchObject({ tree_size: 6 });
  });
});

describe('a look at the log', () => {
  it('proves what others told of, and finds that it went back without a batch', async () => {
    const known = new KnownLog();
    const older = await append(known, 3);
    const restore = await dump();
    const newest = await append(new KnownLog(), 4);
    known.learnLink({ from: named(older), to: named(newest) });
    await lookAtLog(database, known);
    expect(known.hasProven(newest)).toBe(true);
    await restore();
    await expect(lookAtLog(database, known)).rejects.toMatchObject(halted(newest, older));
  });
});

describe('a halt', () => {
  it('is written once, and not again after a break was declared since', async () => {
    const head = await append(new KnownLog(), 2);
    const halt = { known: named(head), found: named(head), at: '2026-01-02T03:04:05.678Z', by: 'one/1' };
    const standing = async () =>
      (await database.query<{ halted: object | null }>({ text: 'select halted from log_head' }))[0]?.halted;
    expect(await announceHalt(database, halt, 0)).toMatchObject({ accepted: false });
    await announceHalt(database, { ...halt, by: 'two/2' }, 0);
    expect(await standing()).toEqual(halt);
    await database.query({
      text: `insert into log_break (found, reason, declared_at, kid, jws) values ('{}', 'r', now(), 'k', 'j')`,
    });
    await database.query({ text: 'update log_head set halted = null' });
    expect(await announceHalt(database, halt, 0)).toMatchObject({ accepted: true });
    expect(await standing()).toBeNull();
    expect(await announceHalt(database, halt, 1)).toMatchObject({ accepted: false });
    expect(await standing()).toEqual(halt);
  });
});
