import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { atomicAmount } from '../../../../schema/amount.ts';
import { agentId } from '../../../../schema/ids.ts';
import { parsePolicy } from '../../../../schema/requests/policy.ts';
import { arrive } from '../../../../subgraphs/book/ledger/arrive.ts';
import { reserve, voidReservations } from '../../../../subgraphs/book/ledger/reserve.ts';
import { setBudget, setPolicy } from '../../../../subgraphs/book/policy/set.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { txOf } from '../../../harness/database.ts';
import { auditBooks } from '../../../harness/faults/audit-books.ts';
import {
  collectAll,
  collection,
  refuser,
  reservationFor,
  vouchedCollection,
  withBooks,
} from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

let database: Database;
beforeAll(async () => {
  database = await freshStore();
});

const set = (agent: number, policy_type: string, value: string | boolean | null) =>
  setPolicy(database, agentId(agent), parsePolicy(policy_type, value));
const reserveAll = (...items: ReturnType<typeof reservationFor>[]) =>
  database.transaction(tx => reserve(tx, refuser, items));
const kinds = (outcomes: Awaited<ReturnType<typeof reserveAll>>) => outcomes.map(({ kind }) => kind);

interface StoredHead {
  readonly spent_atomic: bigint;
  readonly reserved_atomic: bigint;
  readonly hour_atomic: bigint;
  readonly day_atomic: bigint;
  readonly hour_start: Date | null;
  readonly seq: number;
  readonly position: number;
}

async function headOf(agent: number): Promise<StoredHead> {
  const [head] = await database.query<StoredHead>({ text: 'select * from book where agent_id = $1', values: [agent] });
  if (!head) throw new Error(`no book ${agent}`);
  return head;
}

const rowsOf = (agent: number) =>
  database.query({ text: 'select * from book_row where agent_id = $1 order by seq', values: [agent] });

/** Moves the counters of a book back, as if that time had passed since its last collected row. */
const passed = (agent: number, interval: string) =>
  database.query({
    text: `update book set hour_start = hour_start - $2::interval, day_start = day_start - $2::interval where agent_id = $1`,
    values: [agent, interval],
  });

describe('reserve', () => {
  it('holds and gives back, summed per book, without a position', async () => {
    await withBooks(database, 1);
    expect(kinds(await reserveAll(reservationFor(1, 1), reservationFor(1, 2), reservationFor(1, 3)))).toEqual(
      Array(3).fill('reserved'),
    );
    const item = { agent_id: agentId(1), amount: atomicAmount(2000n) };
    await database.transaction(tx => voidReservations(tx, [item]));
    expect(await headOf(1)).toMatchObject({ reserved_atomic: 4000n, spent_atomic: 0n, position: 0 });
  });

  it('gives nothing back where nothing is held, even of a book that was never opened', async () => {
    await database.transaction(tx => voidReservations(tx, [{ agent_id: agentId(999), amount: atomicAmount(0n) }]));
  });

  it('judges a batch in its order and blocks what is over, each by a row, an event and a signed refusal', async () => {
    await withBooks(database, 2, 3);
    await setBudget(database, agentId(2), atomicAmount(5000n));
    const intent = { intent_id: 'the intent', attempt_index: 2 };
    const outcomes = await reserveAll(
      reservationFor(2, 1),
      reservationFor(3, 1),
      reservationFor(2, 2),
      reservationFor(2, 3, intent),
      reservationFor(3, 2),
    );
    expect(kinds(outcomes)).toEqual(['reserved', 'reserved', 'reserved', 'blocked', 'reserved']);
    const blocked = outcomes[3];
    if (blocked?.kind !== 'blocked') throw new Error('not blocked');

    expect(await headOf(2)).toMatchObject({ reserved_atomic: 4000n, spent_atomic: 0n, seq: 1, position: 2 });
    expect(await rowsOf(2)).toMatchObject([
      {
        seq: 1,
        task_id: 'task_2_3',
        evidence: 'policy_blocked',
        collected: false,
        amount: null,
        payment_ref: null,
        rail: null,
        model: 'small-1',
        ...intent,
        payer_wallet: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
        facts: {
          event: 'policy_blocked',
          policy_code: 'budget_exhausted',
          spent_atomic: '0',
          cap_atomic: '5000',
          refusal_id: blocked.refusal_id,
        },
      },
    ]);
    const [counted] = await database.query({ text: 'select * from book_intent where agent_id = 2' });
    expect(counted).toMatchObject({ intent_id: 'the intent', collected_count: 0, blocked_count: 1 });
    const [refusal] = await database.query({
      text: 'select * from refusal where refusal_id = $1',
      values: [blocked.refusal_id],
    });
    expect(refusal).toMatchObject({ agent_id: 2, book_seq: 1, refusal_code: 'budget_exhausted' });
    const other = await headOf(3);
    expect(other).toMatchObject({ reserved_atomic: 4000n, seq: 0, position: 0 });
  });

  it('holds for a call that is owed, whatever the book allows: its money has moved', async () => {
    await withBooks(database, 4);
    await set(4, 'kill_switch', true);
    expect(kinds(await reserveAll(reservationFor(4, 1), reservationFor(4, 2, { owed: true })))).toEqual([
      'blocked',
      'reserved',
    ]);
    expect(await headOf(4)).toMatchObject({ reserved_atomic: 2000n, seq: 1 });
  });

  it('writes nothing of a batch that fails', async () => {
    await withBooks(database, 5);
    await set(5, 'kill_switch', true);
    const refusals = async () => (await database.query({ text: 'select 1 from refusal' })).length;
    const before = await refusals();
    await expect(reserveAll(reservationFor(5, 1), reservationFor(998, 1))).rejects.toThrow('book 998');
    expect(await rowsOf(5)).toEqual([]);
    expect(await refusals()).toBe(before);
  });
});

describe('policy', () => {
  it('is kept by member, and cleared by null alone', async () => {
    await withBooks(database, 11);
    await set(11, 'daily_cap', '10');
    await set(11, 'kill_switch', false);
    const all = { daily_cap: '10', hourly_cap: '5', kill_switch: false };
    expect(await set(11, 'hourly_cap', '5')).toMatchObject({ policy: all, shadow: {} });
    expect((await set(11, 'daily_cap', null))?.policy).toEqual({ hourly_cap: '5', kill_switch: false });
    expect(await setPolicy(database, agentId(997), parsePolicy('daily_cap', '1'))).toBeNull();
  });

  it('waits for a reservation under way, and holds for every one after it', async () => {
    await withBooks(database, 12);
    const holder = await database.connect();
    await holder.query('begin');
    await reserve(txOf(holder), refuser, [reservationFor(12, 1)]);
    let acknowledged = false;
    const killing = set(12, 'kill_switch', true).then(() => {
      acknowledged = true;
    });
    const waiting = reserveAll(reservationFor(12, 2));
    await holder.query('select pg_sleep(0.2)');
    expect(acknowledged).toBe(false);
    await holder.query('commit');
    await holder.end();
    await Promise.all([killing, waiting]);
    expect(kinds(await reserveAll(reservationFor(12, 3)))).toEqual(['blocked']);
  });
});

describe('the clock hour', () => {
  it('is the database clock: what was collected in it counts against its cap, and no more once it is over', async () => {
    await withBooks(database, 21);
    await set(21, 'hourly_cap', '4000');
    await database.transaction(tx => collectAll(tx, [collection(21, 1)]));
    expect(kinds(await reserveAll(reservationFor(21, 2), reservationFor(21, 3)))).toEqual(['reserved', 'blocked']);
    const [row] = (await rowsOf(21)).filter(({ evidence }) => evidence === 'policy_blocked');
    const { hour_start } = await headOf(21);
    expect(row?.facts).toMatchObject({
      policy_code: 'hourly_cap_exceeded',
      policy_key: 'hourly_cap',
      spent_atomic: '2000',
      cap_atomic: '4000',
      period_start: hour_start?.toISOString(),
    });
    expect(row?.collected_at.getTime() - Number(hour_start)).toBeLessThan(2 * 3_600_000);

    await passed(21, '1 hour');
    // A reservation may still be collected in this hour, so it counts. Rows that were collected before do not.
    expect(kinds(await reserveAll(reservationFor(21, 4), reservationFor(21, 5)))).toEqual(['reserved', 'blocked']);
  });

  it('begins anew with the first row of it, and the day goes on', async () => {
    await withBooks(database, 22);
    await set(22, 'daily_cap', '6000');
    await database.transaction(tx => collectAll(tx, [collection(22, 1)]));
    await database.query({ text: `update book set hour_start = hour_start - interval '1 hour' where agent_id = 22` });
    await database.transaction(tx => collectAll(tx, [collection(22, 2)]));
    expect(await headOf(22)).toMatchObject({ hour_atomic: 2000n, day_atomic: 4000n, spent_atomic: 4000n });
    expect(kinds(await reserveAll(reservationFor(22, 3), reservationFor(22, 4)))).toEqual(['reserved', 'blocked']);
    await passed(22, '24 hours');
    expect(kinds(await reserveAll(reservationFor(22, 5), reservationFor(22, 6), reservationFor(22, 7)))).toEqual([
      'reserved',
      'reserved',
      'blocked',
    ]);
    expect(await headOf(22)).toMatchObject({ hour_atomic: 2000n, day_atomic: 4000n });
  });
});

describe('any interleaving of reserve, collect, void and arrive', () => {
  const BUDGET = 20_000n;
  const HOURLY = 12_000n;
  let agent = 0;
  let task = 0;
  // A database whose counters no test has moved back, so that they can be audited.
  beforeAll(async () => {
    database = await freshStore();
  });
  const steps = fc.array(
    fc.record({
      kind: fc.constantFrom('reserve', 'reserve', 'owed', 'collect', 'vouch', 'void', 'confirm', 'unverify'),
      pick: fc.nat(20),
    }),
    { minLength: 10, maxLength: 40 },
  );

  it('keeps spent and held, less what was owed, at or below budget and cap, counters equal to sums, and both chains whole', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async taken => {
        const book = ++agent;
        await withBooks(database, book);
        await setBudget(database, agentId(book), atomicAmount(BUDGET));
        await set(book, 'hourly_cap', String(HOURLY));
        const held: number[] = [];
        // Sum of payments that had already moved. They are reserved in any case, so a limit may be exceeded by this sum.
        let owed_atomic = 0n;
        const pending: number[] = [];
        // Steps of different kinds run at the same time, as calls do.
        const run = async ({ kind, pick }: { kind: string; pick: number }) => {
          if (kind === 'reserve' || kind === 'owed') {
            const number = ++task;
            const owed = kind === 'owed';
            if (owed) owed_atomic += 2000n;
            const [outcome] = await reserveAll(reservationFor(book, number, { owed }));
            if (owed) expect(outcome?.kind).toBe('reserved');
            if (outcome?.kind === 'reserved') held.push(number);
            return;
          }
          const from = kind === 'confirm' || kind === 'unverify' ? pending : held;
          const [number] = from.splice(pick % Math.max(from.length, 1), 1);
          if (number === undefined) return;
          if (kind === 'void') await database.transaction(tx => voidReservations(tx, [reservationFor(book, number)]));
          if (kind === 'collect' || kind === 'vouch') {
            const item = kind === 'vouch' ? vouchedCollection(book, number) : collection(book, number);
            const landing = item.landing && { ...item.landing, reserved: atomicAmount(2000n) };
            await database.transaction(tx => collectAll(tx, [{ ...item, landing }]));
            if (kind === 'vouch') pending.push(number);
          }
          const task_id = `task_${book}_${number}`;
          if (kind === 'confirm') await database.transaction(tx => arrive(tx, [confirmed(task_id)]));
          if (kind === 'unverify') await database.transaction(tx => arrive(tx, [{ task_id, ...unseen }]));
        };
        for (let at = 0; at < taken.length; at += 4) {
          await Promise.all(taken.slice(at, at + 4).map(run));
          const { spent_atomic, reserved_atomic, hour_atomic } = await headOf(book);
          expect(reserved_atomic).toBe(2000n * BigInt(held.length));
          expect(spent_atomic + reserved_atomic - owed_atomic <= BUDGET).toBe(true);
          expect(hour_atomic + reserved_atomic - owed_atomic <= HOURLY).toBe(true);
        }
        await database.transaction(tx =>
          voidReservations(
            tx,
            held.map(number => reservationFor(book, number)),
          ),
        );
      }),
      { numRuns: 8 },
    );
    await auditBooks(database);
  });
});

const unseen = { to: 'ARRIVAL_UNVERIFIED', omission_rule: 'no_ingress_receipt_at_cutoff' } as const;

function confirmed(task_id: string) {
  const ingress_receipt = { ref: `base:0x${'ab'.repeat(32)}`, confirmed_at: '2026-03-01T10:30:00.000Z' };
  return { task_id, to: 'collected', ingress_receipt } as const;
}
