import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { type InitialFacts, unknownFacts } from '../../../../schema/book-row.ts';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { type Evidence, evidences } from '../../../../schema/evidence.ts';
import { agentId } from '../../../../schema/ids.ts';
import { wordList } from '../../../../schema/words.ts';
import { auditStart } from '../../../../subgraphs/book/audit/audit.ts';
import { auditStep } from '../../../../subgraphs/book/audit/audit-database.ts';
import { appendNewRows } from '../../../../subgraphs/book/ledger/append-new-rows.ts';
import { type Arrival, arrive } from '../../../../subgraphs/book/ledger/arrive.ts';
import { closeBook } from '../../../../subgraphs/book/ledger/damage.ts';
import { sequenceOf } from '../../../../subgraphs/book/page/sequence.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { auditBooks } from '../../../harness/faults/audit-books.ts';
import {
  collectAll,
  collectedFactsOf,
  collection,
  ingestedCollection,
  vouchedCollection,
  withBooks,
} from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

let database: Database;
let book = 0;
beforeAll(async () => {
  database = await freshStore();
});

/** Rows of these kinds refer to a receipt, which is issued with them. */
const withReceipt = {
  collected: collection,
  RECORDED_BY_SETTLE: vouchedCollection,
  foreign_ingest: ingestedCollection,
} as const;

/** The first row with that evidence, as its writer adds it. Only rows with money count. */
function bearing(evidence: Evidence, number: number): InitialFacts {
  const paid = collectedFactsOf(`task_${book}_${number}`, number);
  const is = { task_id: paid.task_id, evidence, collected: false, model: 'small-1', hub: 'north' } as const;
  if (evidence === 'foreign_ingest') return { ...paid, ...is, collected: true };
  const facts: JsonObject = evidence === 'inflow_claimed' ? { bucket: 'patron', allocation: '9000000' } : {};
  return { ...unknownFacts, ...is, intent_id: number % 2 === 0 ? 'even' : null, facts };
}

type Act =
  | { readonly act: 'bear'; readonly evidence: Evidence }
  | { readonly act: 'arrive'; readonly of: number; readonly to: Evidence };
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ act: fc.constant('bear' as const), evidence: fc.constantFrom(...wordList(evidences)) }),
  fc.record({ act: fc.constant('arrive' as const), of: fc.nat(11), to: fc.constantFrom(...wordList(evidences)) }),
);

async function bear(evidence: Evidence, number: number): Promise<void> {
  const collected = Object.hasOwn(withReceipt, evidence) ? withReceipt[evidence as keyof typeof withReceipt] : null;
  await database.transaction(async tx => {
    if (collected) return void (await collectAll(tx, [collected(book, number)]));
    await appendNewRows(tx, [{ agent_id: agentId(book), birth: bearing(evidence, number), owed: false }]);
  });
}

/** An arrival to any evidence, including those that the types do not allow. */
const arrivalOf = (task_id: string, to: Evidence) =>
  ({
    task_id,
    to,
    ingress_receipt: { ref: 'base:0x01', confirmed_at: '2026-03-01T10:30:00.000Z' },
    omission_rule: 'no_ingress_receipt_at_cutoff',
  }) as unknown as Arrival;

async function played(acts: readonly Act[]): Promise<ReadonlyMap<string, Evidence>> {
  const expected = new Map<string, Evidence>();
  let number = 0;
  for (const it of acts) {
    if (it.act === 'bear') {
      number++;
      await bear(it.evidence, number + book * 1_000);
      expected.set(`task_${book}_${number + book * 1_000}`, it.evidence);
      continue;
    }
    const task_id = `task_${book}_${it.of + book * 1_000}`;
    await database.transaction(tx => arrive(tx, [arrivalOf(task_id, it.to)]));
    const legal = it.to === 'collected' || it.to === 'ARRIVAL_UNVERIFIED';
    if (expected.get(task_id) === 'RECORDED_BY_SETTLE' && legal) expected.set(task_id, it.to);
  }
  return expected;
}

async function requireSoundBook(rows: number): Promise<void> {
  await auditBooks(database);
  let walked = auditStart;
  for (let ended = false; !ended; ) {
    const step = await auditStep(database, agentId(book), walked);
    if (step.kind !== 'sound') throw new Error(JSON.stringify(step));
    ({ walked, ended } = step);
  }
  expect(await sequenceOf(database, agentId(book), null)).toMatchObject({ seq: rows, count: rows, gapless: true });
}

describe('evidence', () => {
  it('changes from RECORDED_BY_SETTLE to collected or ARRIVAL_UNVERIFIED, once, and in no other way', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 16 }), async acts => {
        book++;
        await withBooks(database, book);
        const expected = await played(acts);
        const rows = await database.query<{ task_id: string; evidence: Evidence; arrival_status: string | null }>({
          text: 'select * from book_row where agent_id = $1 order by seq',
          values: [book],
        });
        expect(rows.map(row => [row.task_id, row.evidence])).toEqual([...expected]);
        for (const row of rows.filter(({ arrival_status }) => arrival_status === 'unverified'))
          expect(row).toMatchObject({ amount: null, collected: false, omission_rule: 'no_ingress_receipt_at_cutoff' });
        await requireSoundBook(expected.size);
      }),
      { numRuns: 25 },
    );
  });
});

describe('a birth without a receipt', () => {
  const spent = async () =>
    (
      await database.query({ text: 'select seq, spent_atomic, by_rail from book where agent_id = $1', values: [book] })
    )[0];

  it('counts by its rail what was spent elsewhere, against no ceiling, and an allocation not at all', async () => {
    book++;
    await withBooks(database, book);
    await bear('inflow_claimed', 1);
    expect(await spent()).toEqual({ seq: 1, spent_atomic: 0n, by_rail: {} });
    await bear('foreign_ingest', 2);
    expect(await spent()).toEqual({ seq: 2, spent_atomic: 0n, by_rail: { usdc: { count: 1, amount: '2000' } } });
    await requireSoundBook(2);
  });

  it('is refused on a book that is closed, but for what money stands behind', async () => {
    book++;
    await withBooks(database, book);
    await database.transaction(async tx => closeBook(tx, agentId(book), { what: 'row_missing', place: 1 }));
    await expect(bear('inflow_claimed', 1)).rejects.toMatchObject({ code: 'book_damaged' });
    const owed = { agent_id: agentId(book), birth: bearing('foreign_ingest', 2), owed: true };
    await database.transaction(tx => appendNewRows(tx, [owed]));
    expect(await spent()).toMatchObject({ seq: 1 });
  });
});
