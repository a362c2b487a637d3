import { beforeAll, describe, expect, it } from 'vitest';
import { agentId, taskId } from '../../../../schema/ids.ts';
import { IngestRequest } from '../../../../schema/requests/ingest.ts';
import { parseRequest } from '../../../../schema/requests/parse.ts';
import { exportTotals } from '../../../../subgraphs/book/export/audit.ts';
import {
  markIngestLookedAt,
  markIngestsFinal,
  markIngestsVanished,
  storeIngest,
  unsettledIngests,
} from '../../../../subgraphs/book/ingest/references.ts';
import { ingestedRow } from '../../../../subgraphs/book/ingest/row.ts';
import { correctYielded } from '../../../../subgraphs/book/ingest/yield.ts';
import { annul } from '../../../../subgraphs/book/ledger/annul.ts';
import { appendNewRows } from '../../../../subgraphs/book/ledger/append-new-rows.ts';
import { correct } from '../../../../subgraphs/book/ledger/correct.ts';
import { sequenceOf } from '../../../../subgraphs/book/page/sequence.ts';
import { systemClock, systemRandom } from '../../../../subgraphs/clock.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { auditBooks } from '../../../harness/faults/audit-books.ts';
import { invoiceOf, sendOf, transferOf } from '../../../harness/ingest/transfer-source.ts';
import { collectAll, collection, withBooks } from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

const BOOK = agentId(41);
const OTHER = agentId(42);
const NOW_MS = 1_790_000_000_000;
const SEEN = { block_number: 7, block_hash: null, final: false };

let database: Database;
beforeAll(async () => {
  database = await freshStore();
  await withBooks(database, BOOK, OTHER);
});

const factOf = (transfer = transferOf(), payer_proven = true, seen_in = SEEN) => ({
  transfer,
  payer_proven,
  seen_in,
  merchant_signed: false,
  task_id: taskId(NOW_MS, systemRandom.bytes(10)),
});

/** Records an ingest as the service does, but without its receipt. */
async function recorded(agent_id: typeof BOOK, fact: ReturnType<typeof factOf>) {
  const { transfer } = fact;
  const nano = { block: transfer.transaction, recipient: transfer.pay_to, amount: transfer.amount, description: 'it' };
  const body = transfer.network === 'nano' ? { nano } : invoiceOf(transfer);
  const { birth } = ingestedRow({ agent_id, ...parseRequest(IngestRequest, body) }, fact);
  await database.transaction(async tx => {
    storeIngest(tx, agent_id, fact, NOW_MS);
    await appendNewRows(tx, [{ agent_id, birth, owed: true }]);
  });
  return fact.task_id;
}

const yielded = () => correctYielded({ database, clock: systemClock, random: systemRandom });

const corrections = (task_id: string) =>
  database.query<{ said: object; seq: number }>({
    text: `select c.facts - 'reason' as said, c.seq, c.collected, c.amount from book_row c
      where c.facts->>'corrects' = $1 order by seq`,
    values: [task_id],
  });

describe('transfers that were recorded', () => {
  it('are looked at until the final chain is known to have them, or not to: the longest ago first, the older the more rarely', async () => {
    const [one, other, gone] = [
      await recorded(BOOK, factOf()),
      await recorded(BOOK, factOf()),
      await recorded(BOOK, factOf()),
    ];
    const cemented = await recorded(BOOK, factOf(sendOf(), true, { ...SEEN, final: true }));
    const waiting = async (limit = 10) => (await unsettledIngests(database, limit)).map(({ task_id }) => task_id);
    expect(new Set(await waiting())).toEqual(new Set([one, other, gone]));
    expect(await waiting()).not.toContain(cemented);

    await database.transaction(async tx => markIngestLookedAt(tx, one, { ...SEEN, block_number: 8 }));
    expect(await waiting()).not.toContain(one);
    const aged = (age: string) =>
      database.query({
        text: `update foreign_ingest set looked_at = now() - interval '11 seconds', recorded_at = now() - $2::interval
          where task_id = $1`,
        values: [one, age],
      });
    await aged('1 minute');
    expect(await waiting()).not.toContain(one);
    await aged('40 seconds');
    expect((await waiting()).at(-1)).toBe(one);
    expect(await unsettledIngests(database, 10)).toContainEqual(
      expect.objectContaining({ task_id: one, agent_id: BOOK, seen_in: { ...SEEN, block_number: 8 } }),
    );
    await database.transaction(async tx => markIngestsFinal(tx, [one, other]));
    const vanished = () => database.transaction(tx => markIngestsVanished(tx, [other, gone]));
    expect(await vanished()).toEqual([gone]);
    expect(await vanished()).toEqual([]);
    expect(await waiting()).toEqual([]);
  });

  it.each([
    ['before', false],
    ['after', true],
  ])('yield where their payer is proven %s them, which is said of them once', async (_, proven_first) => {
    const transfer = transferOf();
    const [proven, unproven] = [factOf(transfer), factOf(transfer, false)];
    if (proven_first) await recorded(BOOK, proven);
    await recorded(OTHER, unproven);
    if (!proven_first) await recorded(BOOK, proven);
    // Several processes may look for such rows at the same time, but only one may write the correction.
    const told = await Promise.all([1, 2, 3].map(() => yielded()));
    expect(told.reduce((sum, count) => sum + count, 0)).toBe(1);
    expect(await yielded()).toBe(0);
    const said = { corrects: unproven.task_id, yielded_to: proven.task_id };
    const correction = { said, seq: expect.any(Number), collected: false, amount: null };
    expect(await corrections(unproven.task_id)).toEqual([correction]);
    const { supersession } = await sequenceOf(database, OTHER, unproven.task_id);
    expect(supersession).toMatchObject({ status: 'linear', corrections: 1 });
    await auditBooks(database);
    expect(await corrections(proven.task_id)).toEqual([]);
  });

  it('get the row that says so where they had yielded by an event alone, before there were such rows', async () => {
    const transfer = transferOf();
    const [proven, unproven] = [factOf(transfer), factOf(transfer, false)];
    await recorded(BOOK, proven);
    await recorded(OTHER, unproven);
    const body = { reason: 'payer_proven_elsewhere', yielded_to: proven.task_id };
    await database.transaction(tx => correct(tx, [{ task_id: unproven.task_id, body }]));
    await database.query({ text: 'update foreign_ingest set corrected_at = now() where yielded_to is not null' });
    expect(await yielded()).toBe(1);
    expect(await corrections(unproven.task_id)).toMatchObject([{ said: { yielded_to: proven.task_id } }]);
    // A row that has already yielded gets no second correction.
    await database.query({ text: 'update foreign_ingest set yield_row_at = null' });
    expect(await yielded()).toBe(0);
  });

  it('do not yield where they are corrected already, as those of a transfer that vanished are', async () => {
    const transfer = transferOf();
    const [proven, unproven] = [factOf(transfer), factOf(transfer, false)];
    await recorded(OTHER, unproven);
    const said = { omission_rule: 'transfer_vanished', reason: 'It vanished.' };
    const correction_id = taskId(NOW_MS, systemRandom.bytes(10));
    await database.transaction(tx => annul(tx, [{ task_id: unproven.task_id, correction_id, ...said }]));
    await recorded(BOOK, proven);
    expect(await yielded()).toBe(0);
    expect(await corrections(unproven.task_id)).toHaveLength(1);
    expect((await sequenceOf(database, OTHER, unproven.task_id)).supersession.status).toBe('linear');
  });

  it('do not yield to one whose payer is not proven either', async () => {
    const transfer = transferOf();
    for (const agent_id of [BOOK, OTHER]) await recorded(agent_id, factOf(transfer, false));
    expect(await yielded()).toBe(0);
  });
});

describe('XNO on a book', () => {
  it('is in its own rail, and in no sum of USDC', async () => {
    const book = agentId(43);
    await withBooks(database, book);
    await database.transaction(tx => collectAll(tx, [collection(book, 1)]));
    const send = sendOf();
    await recorded(book, factOf(send));
    await recorded(book, factOf(transferOf()));
    await recorded(book, factOf(sendOf(), false));
    const [head] = await database.query({
      text: 'select spent_atomic, hour_atomic, day_atomic, by_rail from book where agent_id = $1',
      values: [book],
    });
    const by_rail = { usdc: { count: 2, amount: '2502000' }, xno: { count: 1, amount: send.amount } };
    expect(head).toEqual({
      spent_atomic: 2000n,
      hour_atomic: expect.any(BigInt),
      day_atomic: expect.any(BigInt),
      by_rail,
    });
    const rows = await database.query<{ rail: string; amount: string | null }>({
      text: 'select rail, amount::text from book_row where agent_id = $1',
      values: [book],
    });
    expect(exportTotals(rows)).toEqual({ usdc_sum: '2502000', count: 3, by_rail });
    await auditBooks(database);
  });
});
