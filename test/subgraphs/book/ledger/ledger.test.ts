import { beforeAll, describe, expect, it } from 'vitest';
import { canonicalHash, type Json } from '../../../../schema/canonical-json.ts';
import { correct } from '../../../../subgraphs/book/ledger/correct.ts';
import { replay } from '../../../../subgraphs/book/ledger/replay.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { lockLogHead } from '../../../../subgraphs/receipt/log/head.ts';
import { KnownLog } from '../../../../subgraphs/receipt/log/known-log.ts';
import { collectAll, collection, collector, withBooks } from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

let database: Database;
beforeAll(async () => {
  database = await freshStore();
});

const count = async (table: string) =>
  (await database.query<{ n: number }>({ text: `select count(*) as n from ${table}` }))[0]?.n;

async function chainsOf(agent: number) {
  const [head] = await database.query({ text: 'select * from book where agent_id = $1', values: [agent] });
  const rows = await database.query({
    text: 'select * from book_row where agent_id = $1 order by seq',
    values: [agent],
  });
  const events = await database.query({
    text: 'select * from book_event where agent_id = $1 order by position',
    values: [agent],
  });
  return { head, rows, events };
}

describe('collect', () => {
  it('writes row, event, receipt, leaf and counters, all or nothing', async () => {
    await withBooks(database, 1);
    const before = await count('receipt');
    const unknownBook = collection(999, 1);
    const batch = database.transaction(tx => collectAll(tx, [collection(1, 1), unknownBook]));
    await expect(batch).rejects.toThrow('book 999');
    expect(await count('receipt')).toBe(before);
    expect((await chainsOf(1)).rows).toEqual([]);

    await database.transaction(tx => collectAll(tx, [collection(1, 1)]));
    const { head, rows, events } = await chainsOf(1);
    expect(rows).toMatchObject([{ seq: 1, evidence: 'collected', amount: 2000n, row_hash: head?.row_hash }]);
    expect(events).toMatchObject([{ position: 1, kind: 'born', seq: 1, hash: head?.event_hash }]);
    expect(head).toMatchObject({
      seq: 1,
      position: 1,
      spent_atomic: 2000n,
      by_rail: { usdc: { count: 1, amount: '2000' } },
    });
  });

  it('keeps seq and position gapless and the log a prefix of itself under concurrency', async () => {
    await withBooks(database, 21, 22, 23);
    const collectors = [collector(database), collector(database), collector(database)];
    const size = (await database.transaction(tx => lockLogHead(tx, new KnownLog()))).append(
      Buffer.alloc(32),
    ).leaf_index;
    const calls = Array.from({ length: 150 }, (_, n) =>
      collectors[n % 3]?.submit(collection([21, 22, 23, null][n % 4] ?? null, 100 + n)),
    );
    await Promise.all(calls);
    for (const agent of [21, 22, 23]) {
      const { head, rows, events } = await chainsOf(agent);
      expect(rows.map(row => row.seq)).toEqual(rows.map((_, index) => index + 1));
      expect(events.map(event => event.position)).toEqual(events.map((_, index) => index + 1));
      expect(head?.spent_atomic).toBe(2000n * BigInt(rows.length));
    }
    const leaves = await database.query<{ leaf_index: number }>({
      text: 'select leaf_index from receipt where leaf_index >= $1 order by leaf_index',
      values: [size],
    });
    expect(leaves.map(leaf => leaf.leaf_index)).toEqual(Array.from({ length: 150 }, (_, n) => size + n));
  });

  it('chains every row and every event to the one before it, so that no fact can be changed later', async () => {
    const { rows, events } = await chainsOf(21);
    let before = '';
    for (const { row_hash, replay_count: _, omission_rule: _o, ingress_receipt: _i, ...facts } of rows) {
      const written = {
        ...facts,
        amount: String(facts.amount),
        collected_at: (facts.collected_at as Date).toISOString(),
      };
      expect(facts.prev_row_hash).toBe(before);
      expect(canonicalHash(written as unknown as Json)).toBe(row_hash);
      before = String(row_hash);
    }
    before = '';
    for (const { hash, ...facts } of events) {
      expect(facts.prev_hash).toBe(before);
      expect(canonicalHash({ ...facts, at: (facts.at as Date).toISOString() } as unknown as Json)).toBe(hash);
      before = String(hash);
    }
  });

  it('refuses one bad item of a batch and none of the others', async () => {
    await withBooks(database, 31);
    const queue = collector(database);
    const outcomes = await Promise.allSettled([1, 2, 1, 3].map(number => queue.submit(collection(31, number))));
    expect(outcomes.map(outcome => outcome.status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect((await chainsOf(31)).head).toMatchObject({ seq: 3, position: 3 });
  });

  it('counts attempts by intent as rows land', async () => {
    const [even] = await database.query({ text: `select * from book_intent where agent_id = 31` });
    expect(even).toMatchObject({ intent_id: 'even', collected_count: 1, blocked_count: 0 });
  });
});

describe('replay', () => {
  it('appends an event and consumes no seq', async () => {
    await withBooks(database, 41);
    await database.transaction(tx => collectAll(tx, [collection(41, 1), collection(41, 2)]));
    await database.transaction(tx => replay(tx, ['task_41_1', 'task_41_1', 'task_nobody']));
    const { head, rows, events } = await chainsOf(41);
    expect(head).toMatchObject({ seq: 2, position: 4 });
    expect(rows.map(row => row.replay_count)).toEqual([2, 0]);
    expect(events.slice(2)).toMatchObject([
      { kind: 'replay', seq: 1 },
      { kind: 'replay', seq: 1 },
    ]);
  });
});

describe('correct', () => {
  it('appends a correction to the row, which stays as it was born', async () => {
    await withBooks(database, 61);
    await database.transaction(tx => collectAll(tx, [collection(61, 1), collection(61, 2)]));
    const before = (await chainsOf(61)).rows;
    const body = { reason: 'settlement_vanished' };
    await database.transaction(tx => correct(tx, [{ task_id: 'task_61_2', body }]));
    const { head, rows, events } = await chainsOf(61);
    expect(rows).toEqual(before);
    expect(head).toMatchObject({ seq: 2, position: 3 });
    expect(events.at(-1)).toMatchObject({ kind: 'correction', seq: 2, task_id: 'task_61_2', body });
  });
});

describe('a head that is held too long', () => {
  const held = async (agent_id: number) => {
    await withBooks(database, agent_id);
    const holder = await database.connect();
    await holder.query('begin');
    await holder.query(`select 1 from book where agent_id = ${agent_id} for update`);
    return holder;
  };

  it('is taken from whoever stands still with it', async () => {
    const holder = await held(71);
    expect(await collector(database).submit(collection(71, 1))).toBe(1);
    await expect(holder.query('commit')).rejects.toThrow();
  });

  it('answers 503 while its holder is at work, and is there again when it is let go of', async () => {
    const holder = await held(72);
    const { rows } = await holder.query('select pg_backend_pid() as pid');
    const atWork = holder.query('select pg_sleep(600)').catch(() => 'ended');
    const queue = collector(database);
    await expect(queue.submit(collection(72, 1))).rejects.toMatchObject({ code: 'unavailable', status: 503 });
    await database.query({ text: 'select pg_terminate_backend($1, 5000)', values: [rows[0]?.pid] });
    expect(await atWork).toBe('ended');
    expect(await queue.submit(collection(72, 1))).toBe(1);
  });
});
