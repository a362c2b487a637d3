import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { agentId, type TaskId } from '../../../../schema/ids.ts';
import { auditStart } from '../../../../subgraphs/book/audit/audit.ts';
import { auditStep } from '../../../../subgraphs/book/audit/audit-database.ts';
import { type Annulment, annul } from '../../../../subgraphs/book/ledger/annul.ts';
import { appendNewRows } from '../../../../subgraphs/book/ledger/append-new-rows.ts';
import { arrive } from '../../../../subgraphs/book/ledger/arrive.ts';
import { sequenceOf } from '../../../../subgraphs/book/page/sequence.ts';
import { totalsBy } from '../../../../subgraphs/book/page/totals.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { auditBooks } from '../../../harness/faults/audit-books.ts';
import {
  collectAll,
  collectedFactsOf,
  collection,
  vouchedCollection,
  withBooks,
} from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

let database: Database;
let book = 0;
beforeAll(async () => {
  database = await freshStore();
});
beforeEach(async () => {
  book++;
  await withBooks(database, book);
});

const annulment = (number: number, correction = `correction_${book}_${number}`): Annulment => ({
  task_id: `task_${book}_${number}`,
  correction_id: correction as TaskId,
  omission_rule: 'settlement_vanished',
  reason: 'The final chain does not have this payment: it ran out.',
});

const numbers = (...of: number[]) => of.map(number => book * 1_000 + number);
const collected = (...of: number[]) =>
  database.transaction(tx =>
    collectAll(
      tx,
      numbers(...of).map(number => collection(book, number)),
    ),
  );
const annulled = (...items: Annulment[]) => database.transaction(tx => annul(tx, items));

const head = async () => {
  const text = 'select spent_atomic, by_rail, hour_atomic, day_atomic, seq, position from book where agent_id = $1';
  return (await database.query({ text, values: [book] }))[0];
};
const rows = () =>
  database.query({
    text: `select seq, task_id, evidence, amount, collected, arrival_status, omission_rule, facts from book_row
      where agent_id = $1 order by seq`,
    values: [book],
  });
const events = async () =>
  (
    await database.query<{ kind: string; seq: number }>({
      text: 'select kind, seq from book_event where agent_id = $1 order by position',
      values: [book],
    })
  ).map(({ kind, seq }) => `${kind} ${seq}`);

/** Checks the book by the harness's own sums over its rows and by the service's audit. */
async function requireSound(): Promise<void> {
  await auditBooks(database);
  const step = await auditStep(database, agentId(book), auditStart);
  expect(step).toMatchObject({ kind: 'sound', ended: true, marked: false });
}

describe('a row whose payment is not on its chain', () => {
  it('is named by a correction with a seq of its own, and its amount is in no sum any more', async () => {
    await collected(1, 2);
    const [first = 0] = numbers(1);
    expect(await annulled(annulment(first))).toMatchObject([{ agent_id: book, seq: 3, corrects_seq: 1 }]);
    const born = { evidence: 'collected', amount: 2000n, collected: true, omission_rule: null, facts: {} };
    expect(await rows()).toMatchObject([
      {
        ...born,
        seq: 1,
        amount: null,
        collected: false,
        arrival_status: 'unverified',
        omission_rule: 'settlement_vanished',
      },
      { ...born, seq: 2 },
      {
        seq: 3,
        task_id: `correction_${book}_${first}`,
        evidence: 'UNVERIFIED',
        amount: null,
        collected: false,
        facts: { corrects: `task_${book}_${first}`, reason: annulment(first).reason },
      },
    ]);
    expect(await head()).toMatchObject({
      spent_atomic: 2000n,
      hour_atomic: 2000n,
      day_atomic: 2000n,
      seq: 3,
      position: 4,
      by_rail: { usdc: { count: 1, amount: '2000' } },
    });
    expect(await totalsBy(database, agentId(book), ['HOUR', 'MODEL', 'PAYER'], {})).toMatchObject([
      { count: 1, amount: 2000n },
      { count: 1, amount: 2000n },
      { count: 1, amount: 2000n },
    ]);
    expect(await events()).toEqual(['born 1', 'born 2', 'transition 1', 'born 3']);
    expect(await sequenceOf(database, agentId(book), null)).toMatchObject({ gapless: true, count: 3 });
    await requireSound();
  });

  it('is corrected once, in one transaction or in several, also by two at once', async () => {
    await collected(1, 2);
    const [first = 0, second = 0] = numbers(1, 2);
    const both = await Promise.all([
      annulled(annulment(second, 'correction a'), annulment(first, 'correction b')),
      annulled(annulment(first, 'correction c'), annulment(second, 'correction d')),
    ]);
    expect(both.map(({ length }) => length).sort()).toEqual([0, 2]);
    expect(await annulled(annulment(first, 'correction e'))).toEqual([]);
    expect(await head()).toMatchObject({ spent_atomic: 0n, by_rail: {}, seq: 4, position: 6 });
    await requireSound();
  });

  it('that had arrived moves on from there; one that never did has nothing more to lose', async () => {
    await database.transaction(async tx => {
      await collectAll(
        tx,
        numbers(1, 2).map(number => vouchedCollection(book, number)),
      );
    });
    const [came = 0, never = 0] = numbers(1, 2);
    const ingress_receipt = { ref: 'base:0x01', confirmed_at: '2026-03-01T10:30:00.000Z' };
    await database.transaction(tx =>
      arrive(tx, [
        { task_id: `task_${book}_${came}`, to: 'collected', ingress_receipt },
        { task_id: `task_${book}_${never}`, to: 'ARRIVAL_UNVERIFIED', omission_rule: 'no_ingress_receipt_at_cutoff' },
      ]),
    );
    await annulled(annulment(came), annulment(never));
    expect(await head()).toMatchObject({ spent_atomic: 0n, by_rail: {}, seq: 4 });
    await requireSound();
  });

  it('of spend elsewhere leaves its rail, and no ceiling, which it was never on', async () => {
    await collected(1);
    const [elsewhere = 0] = numbers(2);
    const row = { ...collectedFactsOf(`task_${book}_${elsewhere}`, elsewhere), evidence: 'foreign_ingest' as const };
    await database.transaction(tx => appendNewRows(tx, [{ agent_id: agentId(book), birth: row, owed: true }]));
    expect(await head()).toMatchObject({ spent_atomic: 2000n, by_rail: { usdc: { count: 2, amount: '4000' } } });
    await annulled(annulment(elsewhere));
    expect(await head()).toMatchObject({ spent_atomic: 2000n, by_rail: { usdc: { count: 1, amount: '2000' } } });
    // `auditBooks` does not include the service's own audit, which requires the receipt of the row. This row has no receipt.
    await auditBooks(database);
  });

  it('that is on no book is nobody’s to correct', async () => {
    expect(await annulled(annulment(9_999_999))).toEqual([]);
  });

  it('leaves nothing behind where its transaction does not come to its end', async () => {
    await collected(1);
    const [first = 0] = numbers(1);
    const before = await head();
    await expect(
      database.transaction(async tx => {
        await annul(tx, [annulment(first)]);
        throw new Error('the process ended');
      }),
    ).rejects.toThrow('the process ended');
    expect(await head()).toEqual(before);
    await annulled(annulment(first));
    await requireSound();
  });
});
