import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Arrival, arrive } from '../../../../subgraphs/book/ledger/arrive.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { auditBooks } from '../../../harness/faults/audit-books.ts';
import { collectAll, vouchedCollection, withBooks } from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

let database: Database;
let book = 0;
beforeAll(async () => {
  database = await freshStore();
});
beforeEach(async () => {
  book++;
  await withBooks(database, book);
  // Two calls that were recorded at settle; the second names an intent.
  await database.transaction(tx => collectAll(tx, [vouchedCollection(book, 1), vouchedCollection(book, 2)]));
});

const task = (number: number) => `task_${book}_${number}`;
const ingress_receipt = { ref: `base:0x${'cd'.repeat(32)}`, confirmed_at: '2026-03-01T10:30:00.000Z' };
const seen = (number: number): Arrival => ({ task_id: task(number), to: 'collected', ingress_receipt });
const unseen = (number: number): Arrival => ({
  task_id: task(number),
  to: 'ARRIVAL_UNVERIFIED',
  omission_rule: 'no_ingress_receipt_at_cutoff',
});
const arriving = (...items: Arrival[]) => database.transaction(tx => arrive(tx, items));
const one = async (text: string, ...values: unknown[]) =>
  (await database.query({ text, values: [book, ...values] }))[0];
const head = () => one('select * from book where agent_id = $1');
const row = (number: number) => one('select * from book_row where agent_id = $1 and task_id = $2', task(number));
const last = () => one('select * from book_event where agent_id = $1 order by position desc limit 1');

describe('a call recorded at settle', () => {
  it('counts from its birth on and is not collected yet', async () => {
    expect(await row(1)).toMatchObject({
      evidence: 'RECORDED_BY_SETTLE',
      collected: false,
      recorded_by: 'settle',
      arrival_status: 'pending',
      amount: 2000n,
    });
    expect(await head()).toMatchObject({ spent_atomic: 4000n, hour_atomic: 4000n, seq: 2, position: 2 });
  });

  it('becomes collected once its money was seen, without a seq, its ingress receipt on it', async () => {
    const arrival = { ...seen(2), payment_ref: `base:0x${'ef'.repeat(32)}`, transfer_index: 7 } as Arrival;
    await arriving(arrival);
    expect(await row(2)).toMatchObject({
      evidence: 'collected',
      collected: true,
      arrival_status: 'confirmed',
      amount: 2000n,
      ingress_receipt,
      omission_rule: null,
      payment_ref: `base:0x${'ef'.repeat(32)}`,
      transfer_index: 7,
    });
    expect(await last()).toMatchObject({
      kind: 'transition',
      seq: 2,
      body: {
        evidence: 'collected',
        ingress_receipt,
        born: { evidence: 'RECORDED_BY_SETTLE', collected: false, amount: '2000', transfer_index: null },
      },
    });
    expect(await head()).toMatchObject({ spent_atomic: 4000n, seq: 2, position: 3 });
    expect(await one('select * from book_intent where agent_id = $1')).toMatchObject({ collected_count: 1 });
    await auditBooks(database);
  });

  it('becomes unverified at the cutoff: no amount, in no sum, under no cap', async () => {
    await arriving(unseen(1));
    expect(await row(1)).toMatchObject({
      evidence: 'ARRIVAL_UNVERIFIED',
      collected: false,
      arrival_status: 'unverified',
      amount: null,
      omission_rule: 'no_ingress_receipt_at_cutoff',
    });
    expect(await head()).toMatchObject({
      spent_atomic: 2000n,
      hour_atomic: 2000n,
      day_atomic: 2000n,
      by_rail: { usdc: { count: 1, amount: '2000' } },
    });
    await arriving(unseen(2));
    expect(await head()).toMatchObject({ spent_atomic: 0n, hour_atomic: 0n, by_rail: {}, position: 4 });
    await auditBooks(database);
  });

  it('leaves the hour alone in which it was not born', async () => {
    await database.query({
      text: `update book set hour_start = hour_start + interval '1 hour', hour_atomic = 0 where agent_id = $1`,
      values: [book],
    });
    await arriving(unseen(1));
    expect(await head()).toMatchObject({ spent_atomic: 2000n, hour_atomic: 0n, day_atomic: 2000n });
  });

  it('moves on once: what has arrived, or was given up, stays', async () => {
    await Promise.all([arriving(seen(1), unseen(2)), arriving(unseen(1), seen(2)), arriving(seen(1), unseen(2))]);
    const settled = await Promise.all([row(1), row(2), head()]);
    await arriving(seen(1), seen(2));
    await arriving(unseen(1), unseen(2));
    expect(await Promise.all([row(1), row(2), head()])).toEqual(settled);
    expect(settled[2]).toMatchObject({ position: 4 });
    await auditBooks(database);
  });

  it('asks for nothing where no row stands', async () => {
    await arriving({ ...seen(1), task_id: 'task_of_nobody' } as Arrival);
    expect(await head()).toMatchObject({ position: 2 });
  });
});
