import pino from 'pino';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BookGuard } from '../../../gateway/reconcile/audit-books.ts';
import { atomicAmount } from '../../../schema/amount.ts';
import { emptyWindow } from '../../../schema/clock-window.ts';
import { agentId } from '../../../schema/ids.ts';
import { auditStart } from '../../../subgraphs/book/audit/audit.ts';
import { auditNewest, auditStep, damagedBooks, reopenBook } from '../../../subgraphs/book/audit/audit-database.ts';
import { appendRow, type Head } from '../../../subgraphs/book/ledger/append.ts';
import { arrive } from '../../../subgraphs/book/ledger/arrive.ts';
import { replay } from '../../../subgraphs/book/ledger/replay.ts';
import { reserve } from '../../../subgraphs/book/ledger/reserve.ts';
import { setBudget, setPolicy } from '../../../subgraphs/book/policy/set.ts';
import type { Database } from '../../../subgraphs/database.ts';
import {
  collectAll,
  collection,
  refuser,
  reservationFor,
  vouchedCollection,
  withBooks,
} from '../../harness/ledger/fixture.ts';
import { freshStore } from '../../harness/store.ts';

/* Any alteration of a book in the database is found and closes only that book. */

let database: Database;
let agent = 0;
const book = () => agentId(agent);
const task = (number: number) => `task_${agent}_${number}`;

beforeAll(async () => {
  database = await freshStore();
});

/** Five rows: two plain ones, one that has arrived, one that has not, and one that was refused. Also a replay. */
beforeEach(async () => {
  agent++;
  await withBooks(database, agent);
  await database.transaction(tx => collectAll(tx, [collection(agent, 1), collection(agent, 2)]));
  await database.transaction(tx => collectAll(tx, [vouchedCollection(agent, 3), vouchedCollection(agent, 4)]));
  const ingress_receipt = { ref: `base:0x${'cd'.repeat(32)}`, confirmed_at: '2026-03-01T10:30:00.000Z' };
  await database.transaction(tx =>
    arrive(tx, [
      { task_id: task(3), to: 'collected', ingress_receipt, transfer_index: 7 },
      { task_id: task(4), to: 'ARRIVAL_UNVERIFIED', omission_rule: 'no_ingress_receipt_at_cutoff' },
    ]),
  );
  await setBudget(database, book(), atomicAmount(7_000n));
  await setPolicy(database, book(), { policy_type: 'daily_cap', value: '6000' });
  await database.transaction(tx => reserve(tx, refuser, [reservationFor(agent, 5, { intent_id: 'even' })]));
  await database.transaction(tx => replay(tx, [task(1)]));
});

const alter = (text: string) => database.query({ text: text.replaceAll('$1', String(agent)) });

/** Audits the book as the service does, from the first event to the last. */
async function audited() {
  let walked = auditStart;
  for (;;) {
    const step = await auditStep(database, book(), walked);
    if (step.kind !== 'sound' || step.ended) return step;
    walked = step.walked;
  }
}

const mark = async () => (await alter('select damage from book where agent_id = $1'))[0]?.damage;

describe('the audit of a book', () => {
  it('finds nothing where nothing was altered: births, arrivals, refusals, replays, budget and policy', async () => {
    expect(await audited()).toMatchObject({ kind: 'sound', ended: true, marked: false });
    expect(await mark()).toBeNull();
  });

  it.each([
    ['an amount', 'row_altered', 'update book_row set amount = 1 where agent_id = $1 and seq = 1'],
    ['an amount taken away', 'row_altered', 'update book_row set amount = null where agent_id = $1 and seq = 1'],
    ['a payment', 'row_altered', `update book_row set payment_ref = 'base:0x1' where agent_id = $1 and seq = 2`],
    ['a model', 'row_altered', `update book_row set model = 'large-1' where agent_id = $1 and seq = 2`],
    [
      'a time',
      'row_altered',
      `update book_row set collected_at = now() + interval '1 day' where agent_id = $1 and seq = 1`,
    ],
    ['facts', 'row_altered', `update book_row set facts = '{}' where agent_id = $1 and seq = 5`],
    ['a hash', 'row_altered', `update book_row set row_hash = repeat('0', 64) where agent_id = $1 and seq = 2`],
    ['evidence', 'row_altered', `update book_row set evidence = 'UNVERIFIED' where agent_id = $1 and seq = 1`],
    ['the amount of what arrived', 'row_moved', 'update book_row set amount = 1 where agent_id = $1 and seq = 3'],
    [
      'an arrival undone',
      'row_moved',
      `update book_row set evidence = 'RECORDED_BY_SETTLE', collected = false where agent_id = $1 and seq = 3`,
    ],
    [
      'where it arrived',
      'row_moved',
      `update book_row set ingress_receipt = '{"ref":"base:0x1"}' where agent_id = $1 and seq = 3`,
    ],
    [
      'an omission made spend',
      'row_moved',
      `update book_row set evidence = 'collected', amount = 2000 where agent_id = $1 and seq = 4`,
    ],
    [
      'why it was omitted',
      'row_moved',
      `update book_row set omission_rule = 'another' where agent_id = $1 and seq = 4`,
    ],
    [
      'an omission of what arrived',
      'row_moved',
      `update book_row set omission_rule = 'x' where agent_id = $1 and seq = 1`,
    ],
    ['replays', 'replays_lost', 'update book_row set replay_count = 0 where agent_id = $1 and seq = 1'],
    ['a row deleted', 'row_missing', 'delete from book_row where agent_id = $1 and seq = 2'],
    ['the last row deleted', 'row_missing', 'delete from book_row where agent_id = $1 and seq = 5'],
    ['a row moved', 'row_missing', 'update book_row set seq = 9 where agent_id = $1 and seq = 5'],
    [
      'a row that nobody bore',
      'row_unborn',
      `insert into book_row select (jsonb_populate_record(r, '{"seq":6,"task_id":"made","payment_ref":null}')).* from book_row r where agent_id = $1 and seq = 1`,
    ],
    ['an event', 'event_altered', `update book_event set body = '{}' where agent_id = $1 and position = 2`],
    [
      'the time of an event',
      'event_altered',
      `update book_event set at = now() + interval '1 day' where agent_id = $1 and position = 2`,
    ],
    [
      'a number of an event, to one beyond all that are canonical',
      'event_altered',
      `update book_event set body = body || '{"amount": 1e400}' where agent_id = $1 and position = 2`,
    ],
    [
      'the count of replays, to what is no count',
      'event_altered',
      `update book_event set body = body || '{"count": "many"}' where agent_id = $1 and kind = 'replay'`,
    ],
    [
      'a number of facts, to one beyond all that are canonical',
      'row_altered',
      `update book_row set facts = '{"count": 1e400}' where agent_id = $1 and seq = 2`,
    ],
    [
      'a cap, to a number beyond all that are canonical',
      'terms_altered',
      `update book set policy = '{"daily_cap": 1e400}' where agent_id = $1`,
    ],
    [
      'a rail, to a number beyond all that are canonical',
      'counter_altered',
      `update book set by_rail = '{"usdc": 1e400}' where agent_id = $1`,
    ],
    ['an event deleted', 'event_missing', 'delete from book_event where agent_id = $1 and position = 3'],
    ['the last event deleted', 'event_missing', 'delete from book_event where agent_id = $1 and position = 8'],
    ['the spent sum', 'counter_altered', 'update book set spent_atomic = 1 where agent_id = $1'],
    [
      'a rail',
      'counter_altered',
      `update book set by_rail = '{"usdc":{"count":1,"amount":"6000"}}' where agent_id = $1`,
    ],
    ['the hour', 'counter_altered', 'update book set hour_atomic = 0 where agent_id = $1'],
    ['the day', 'counter_altered', 'update book set day_atomic = day_atomic + 1 where agent_id = $1'],
    [
      'the day begun earlier',
      'counter_altered',
      `update book set day_start = day_start - interval '1 day' where agent_id = $1`,
    ],
    ['a count of an intent', 'intent_altered', 'update book_intent set collected_count = 9 where agent_id = $1'],
    ['an intent deleted', 'intent_altered', 'delete from book_intent where agent_id = $1'],
    ['what is held back', 'reserved_altered', 'update book set reserved_atomic = 1 where agent_id = $1'],
    ['the budget', 'terms_altered', 'update book set budget_atomic = 1000000 where agent_id = $1'],
    ['the budget lifted', 'terms_altered', 'update book set budget_atomic = null where agent_id = $1'],
    ['a cap', 'terms_altered', `update book set policy = '{}' where agent_id = $1`],
    [
      'a policy in shadow mode',
      'terms_altered',
      `update book set shadow = '{"kill_switch": true}' where agent_id = $1`,
    ],
    ['where the rows end', 'head_altered', `update book set row_hash = repeat('0', 64) where agent_id = $1`],
    ['where the events end', 'head_altered', `update book set event_hash = repeat('0', 64) where agent_id = $1`],
    ['a head that went back', 'head_altered', 'update book set position = position - 1 where agent_id = $1'],
    ['a seq that went back', 'row_unborn', 'update book set seq = seq - 1 where agent_id = $1'],
    ['a receipt deleted', 'receipt_missing', `delete from receipt where task_id = 'task_$1_2'`],
  ])('%s: %s, and the book is closed', async (_, what, change) => {
    await alter(change);
    expect(await audited()).toMatchObject({ kind: 'closed', damage: { what } });
    expect(await mark()).toMatchObject({ what, found_at: expect.any(String) });
  });

  it('does not believe a book whose hashes were all made anew: the receipts of its rows are signed', async () => {
    agent++;
    await withBooks(database, agent);
    const { landing } = collection(agent, 1);
    if (!landing) throw new Error('it lands on a book');
    await database.transaction(tx => collectAll(tx, [collection(agent, 1)]));
    const [book_] = await alter('select * from book where agent_id = $1');
    const empty = { row_hash: '', event_hash: '', seq: 0, position: 0, agent_id: book(), by_rail: {} };
    const counters = { spent_atomic: atomicAmount(0n), hour: emptyWindow, day: emptyWindow };
    const at_ms = (await alter('select collected_at as at from book_row where agent_id = $1'))[0]?.at as Date;
    const { row, event, head } = appendRow(
      { ...(book_ as unknown as Head), ...empty, ...counters },
      { ...landing.birth, amount: atomicAmount(1n) },
      at_ms.getTime(),
    );
    await alter(`update book_row set amount = 1, row_hash = '${row.row_hash}' where agent_id = $1`);
    await alter(
      `update book_event set hash = '${event.hash}', body = '${JSON.stringify(event.body)}' where agent_id = $1`,
    );
    await alter(`update book set spent_atomic = 1, hour_atomic = 1, day_atomic = 1, row_hash = '${head.row_hash}',
      event_hash = '${head.event_hash}', by_rail = '${JSON.stringify(head.by_rail)}' where agent_id = $1`);
    expect(await audited()).toEqual({ kind: 'closed', damage: { what: 'receipt_differs', place: 1 }, newly: true });
  });

  it('finds the newest at start, whichever book moved last, and lets all others be', async () => {
    await alter('update book_row set amount = 1 where agent_id = $1 and seq = 2');
    expect(await auditNewest(database)).toEqual(
      expect.arrayContaining([{ agent_id: agent, what: 'row_altered', place: 2 }]),
    );
    expect(await mark()).toMatchObject({ what: 'row_altered' });
  });

  it('has closed what is damaged of the newest when a start goes on, and has said so', async () => {
    await alter('update book_event set body = body || \'{"amount": "1"}\' where agent_id = $1 and position = 2');
    const lines: string[] = [];
    const guard = await BookGuard.open(database, pino({}, { write: line => void lines.push(line) }));
    try {
      expect(await mark()).toMatchObject({ what: 'event_altered', place: 2 });
      expect(lines.join()).toContain(`"agent_id":${agent}`);
    } finally {
      await guard.stop();
    }
  });

  it('closes none while the log is halted', async () => {
    let asked = 0;
    const halted = () => ++asked > 0;
    const guard = await BookGuard.open(database, pino({ level: 'silent' }), { rests: 0, isHalted: halted });
    try {
      await alter('update book set spent_atomic = 1 where agent_id = $1');
      const before = asked;
      await expect.poll(() => asked, { timeout: 30_000 }).toBeGreaterThan(before + 1);
      expect(await mark()).toBeNull();
    } finally {
      await guard.stop();
    }
  });

  it('a book that is closed lets nothing new in, and takes what was paid for', async () => {
    await alter('update book set spent_atomic = 1 where agent_id = $1');
    await audited();
    const call = (owed: boolean) =>
      database.transaction(tx => reserve(tx, refuser, [reservationFor(agent, 6, { amount: atomicAmount(1n), owed })]));
    await expect(call(false)).rejects.toMatchObject({
      code: 'book_damaged',
      status: 503,
      extensions: { charged: false },
    });
    await expect(setBudget(database, book(), null)).rejects.toMatchObject({ code: 'book_damaged' });
    await expect(setPolicy(database, book(), { policy_type: 'kill_switch', value: false })).rejects.toMatchObject({
      code: 'book_damaged',
    });
    expect(await call(true)).toMatchObject([{ kind: 'reserved' }]);
    const { collected } = await database.transaction(tx => collectAll(tx, [collection(agent, 6)]));
    expect(collected).toMatchObject([{ seq: 6 }]);
  });

  it('opens a book again that is found sound from end to end, and none that is not', async () => {
    await alter('update book set spent_atomic = spent_atomic + 1 where agent_id = $1');
    const before = await damagedBooks(database);
    await audited();
    expect(await damagedBooks(database)).toBe(before + 1);
    await alter('update book set spent_atomic = spent_atomic - 1 where agent_id = $1');
    const step = await audited();
    expect(step).toMatchObject({ kind: 'sound', marked: true });
    if (step.kind !== 'sound') throw new Error('it is sound');
    await alter('update book set spent_atomic = spent_atomic + 1 where agent_id = $1');
    expect(await reopenBook(database, book(), step.walked)).toBe(false);
    await alter('update book set spent_atomic = spent_atomic - 1 where agent_id = $1');
    expect(await reopenBook(database, book(), step.walked)).toBe(true);
    expect(await damagedBooks(database)).toBe(before);
  });

  it('never closes a book for what moves while it is audited, however many steps that takes', async () => {
    await setBudget(database, book(), null);
    await setPolicy(database, book(), { policy_type: 'daily_cap', value: null });
    let ended = false;
    const move = async () => {
      for (let number = 10; number < 130; number++) {
        const item = number % 3 === 0 ? vouchedCollection(agent, number) : collection(agent, number);
        await database.transaction(tx => collectAll(tx, [item]));
        await database.transaction(tx => replay(tx, [task(number)]));
        if (number % 3 > 0) continue;
        const omission_rule = 'no_ingress_receipt_at_cutoff';
        await database.transaction(tx =>
          arrive(tx, [{ task_id: task(number), to: 'ARRIVAL_UNVERIFIED', omission_rule }]),
        );
      }
    };
    const moving = move().finally(() => {
      ended = true;
    });
    let rounds = 0;
    while (!ended) {
      expect(await audited()).toMatchObject({ kind: 'sound' });
      rounds++;
    }
    await moving;
    expect(rounds).toBeGreaterThan(2);
    expect(await audited()).toMatchObject({ kind: 'sound', ended: true });
  });
});
