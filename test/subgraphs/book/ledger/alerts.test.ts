import { beforeAll, describe, expect, it } from 'vitest';
import { atomicAmount } from '../../../../schema/amount.ts';
import { settingsInForce } from '../../../../schema/book-alerts.ts';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { agentId } from '../../../../schema/ids.ts';
import { setAlerts } from '../../../../subgraphs/book/ledger/alert-settings.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { openAlertBooks } from '../../../harness/ledger/alert-books.ts';
import { insertRowsAt } from '../../../harness/ledger/dated-rows.ts';
import { freshStore } from '../../../harness/store.ts';

/* The alerts that a book raises before a limit is reached, on the real ledger. */

const HOUR_MS = 3_600_000;

let database: Database;
let books: Awaited<ReturnType<typeof openAlertBooks>>;
beforeAll(async () => {
  database = await freshStore();
  books = await openAlertBooks(database);
});

const named = async (book: number) =>
  (await books.alerts(book)).map(
    ({ seq, body }) => `${seq} ${body.ceiling ?? body.alert} ${body.percent ?? body.alert}`,
  );

describe('an alert', () => {
  it('follows the row that reached it, in its transaction, as an event of that row', async () => {
    const book = await books.openBook();
    await books.setBudget(book, 10_000n);
    await books.collect(books.rowOf(book, 4_999n));
    await books.collect(books.rowOf(book, 1n));
    const [, , , told] = await books.events(book);
    expect(told).toMatchObject({
      position: 4,
      kind: 'alert',
      seq: 2,
      task_id: expect.stringMatching(`^task_${book}_`),
      body: { alert: 'threshold', ceiling: 'budget', percent: 50, spent_atomic: '5000', cap_atomic: '10000' },
    });
    await books.audit(book);
  });

  it('leaves with its row where it cannot be written: neither stands', async () => {
    const book = await books.openBook();
    await books.setBudget(book, 1_000n);
    await database.query({ text: `alter table book_event add constraint broken check (kind <> 'alert') not valid` });
    await expect(books.collect(books.rowOf(book, 1_000n))).rejects.toThrow('broken');
    await database.query({ text: 'alter table book_event drop constraint broken' });
    expect(await books.events(book)).toHaveLength(1);
    await books.collect(books.rowOf(book, 1_000n));
    expect(await named(book)).toEqual(['1 budget 50', '1 budget 80', '1 budget 100']);
  });

  it.each([
    ['alert_state', 'null'],
    ['alert_state', '{"told":{"budget":{"since":null}}}'],
    ['alert_state', '{"hour_before":7,"habit":[]}'],
    ['alert_settings', '[]'],
    ['alert_settings', '{"thresholds_percent":[1.5]}'],
    ['alert_settings', '{"thresholds_percent":{},"burn_factor":0.5}'],
  ])('keeps nothing from being recorded where its book has %s %s', async (column, altered) => {
    const book = await books.openBook();
    await books.setBudget(book, 100_000n);
    await database.query({ text: `update book set ${column} = $2 where agent_id = $1`, values: [book, altered] });
    await books.collect(books.rowOf(book, 50_000n));
    expect(await named(book)).toEqual(['1 budget 50', '1 budget budget_end']);
    await books.audit(book);
  });

  it('of several rows in one batch is told once, by the one that reached it, of each book', async () => {
    const [one, other] = [await books.openBook(), await books.openBook()];
    for (const book of [one, other]) await books.setCap(book, 'hourly_cap', '100');
    await books.collect(
      books.rowOf(one, 40n),
      books.rowOf(other, 90n),
      books.rowOf(one, 15n),
      books.rowOf(one, 10n),
      books.rowOf(other, 10n),
    );
    expect(await named(one)).toEqual(['2 hourly_cap 50']);
    expect(await named(other)).toEqual(['1 hourly_cap 50', '1 hourly_cap 80', '2 hourly_cap 100']);
  });

  it('is told once by many transactions at once', async () => {
    const book = await books.openBook();
    await books.setCap(book, 'daily_cap', '1000');
    await Promise.all(Array.from({ length: 30 }, () => books.collect(books.rowOf(book, 50n))));
    expect(await named(book)).toEqual(['10 daily_cap 50', '16 daily_cap 80', '20 daily_cap 100']);
    await books.audit(book);
  });

  it('is not taken back with money that never came, nor told again by what comes in its place', async () => {
    const book = await books.openBook();
    await books.setCap(book, 'daily_cap', '1000');
    await books.unverify(await books.vouch(book, 500n));
    await books.collect(books.rowOf(book, 500n));
    expect(await named(book)).toEqual(['1 daily_cap 50']);
  });

  it('of a budget is told anew once that is set anew; a cap that is, within its day, is not', async () => {
    const book = await books.openBook();
    await setAlerts(database, agentId(book), null, { thresholds_percent: [50] });
    await books.setCap(book, 'daily_cap', '1000');
    await books.setBudget(book, 1_000n);
    await books.collect(books.rowOf(book, 600n));
    await books.setCap(book, 'daily_cap', '1100');
    await books.setBudget(book, 1_100n);
    await books.collect(books.rowOf(book, 1n));
    expect(await named(book)).toEqual(['1 daily_cap 50', '1 budget 50', '2 budget 50']);
    // A value that is already set is not set again.
    await books.setBudget(book, 1_100n);
    await books.collect(books.rowOf(book, 1n));
    expect(await named(book)).toHaveLength(3);
  });

  it('is of what was collected: a call that costs nothing tells none', async () => {
    const book = await books.openBook();
    await books.setBudget(book, 0n);
    const item = books.rowOf(book, 1n);
    await books.collect({
      ...item,
      landing: item.landing && { ...item.landing, birth: { ...item.landing.birth, amount: null } },
    });
    expect(await books.alerts(book)).toEqual([]);
  });
});

describe('what a book is used to', () => {
  it('is read of its last days once a day, and told of as soon as an hour is far above it', async () => {
    const book = await books.openBook();
    const today = books.today_ms();
    const days = [1, 2, 3, 20].map(before => new Date(today - before * 24 * HOUR_MS + HOUR_MS).toISOString());
    // Three of the last fourteen days have 48,000 each, which is 2,000 an hour. An earlier day does not count.
    const amounts = [48_000n, 48_000n, 48_000n, 10n ** 9n];
    await insertRowsAt(
      database,
      book,
      days.map((at, index) => ({ at, amount: atomicAmount(amounts[index] ?? 0n) })).toReversed(),
    );
    await books.collect(books.rowOf(book, 19_999n));
    expect(await books.alerts(book)).toEqual([]);
    expect(await habitOf(book)).toBeUndefined();
    await books.collect(books.rowOf(book, 1n));
    expect(await books.alerts(book)).toMatchObject([
      { seq: 6, body: { alert: 'burn', rate_atomic: '20000', habit_atomic: '2000', factor: 4 } },
    ]);
    expect(await habitOf(book)).toMatchObject({ days: 3, median_atomic: '48000' });
    await books.collect(books.rowOf(book, 900_000n));
    expect(await books.alerts(book)).toHaveLength(1);
  });

  it('is nothing in a book of a few days', async () => {
    const book = await books.openBook();
    await books.collect(books.rowOf(book, 10n ** 9n));
    expect(await books.alerts(book)).toEqual([]);
    expect(await habitOf(book)).toMatchObject({ days: 0 });
  });
});

async function habitOf(book: number) {
  const [head] = await database.query<{ alert_state: { habit?: JsonObject } }>({
    text: 'select alert_state from book where agent_id = $1',
    values: [book],
  });
  return head?.alert_state.habit;
}

describe('what a book alerts of', () => {
  it('is set with an event of who did it, and is none of the terms of its allowance', async () => {
    const book = await books.openBook();
    const termsOf = () =>
      database.query({ text: 'select terms_hash, policy_version from book where agent_id = $1', values: [book] });
    const before = await termsOf();
    const by = { agent_id: agentId(book), session_hash: 'ab'.repeat(32), by: 'session' } as const;
    expect(await setAlerts(database, agentId(book), by as never, { burn_factor: 9 })).toEqual({ burn_factor: 9 });
    // A value that is already set is not set again, and null restores the default.
    await setAlerts(database, agentId(book), by as never, { burn_factor: 9 });
    expect(await setAlerts(database, agentId(book), by as never, { burn_factor: null })).toEqual({});
    const usual = settingsInForce({});
    const who = { by: 'session', session: 'ab'.repeat(8) };
    expect(await books.events(book)).toMatchObject([
      { kind: 'alerts_changed', seq: null, body: { before: usual, after: { ...usual, burn_factor: 9 }, by: who } },
      { kind: 'alerts_changed', seq: null, body: { before: { burn_factor: 9 }, after: usual } },
    ]);
    expect(await termsOf()).toEqual(before);
    await books.audit(book);
    expect(await setAlerts(database, agentId(9_999), null, { burn_factor: 9 })).toBeNull();
  });
});
