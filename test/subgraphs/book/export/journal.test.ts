import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { atomicAmount } from '../../../../schema/amount.ts';
import { agentId } from '../../../../schema/ids.ts';
import { exportLimits } from '../../../../schema/limits.ts';
import { type JournalUnit, journalUnits } from '../../../../schema/requests/export.ts';
import { wordList } from '../../../../schema/words.ts';
import type { ExportFilter } from '../../../../subgraphs/book/export/publish.ts';
import { type Arrival, arrive } from '../../../../subgraphs/book/ledger/arrive.ts';
import { anyRow } from '../../../harness/export/book.ts';
import { addSums, atomic, type CurrencySums, journalsOf, transactionsOf } from '../../../harness/export/journal.ts';
import { freshStore } from '../../../harness/store.ts';

let store: Awaited<ReturnType<typeof freshStore>>;
let journals: ReturnType<typeof journalsOf>;
beforeAll(async () => {
  store = await freshStore();
  journals = journalsOf(store);
});

it.each(wordList(journalUnits))(
  "debits and credits per %s are alike, and come to the book's sums to the last unit",
  async unit => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow, { minLength: 1, maxLength: 25 }), async rows => {
        const agent_id = await journals.newBook(rows);
        const records: Record<string, string>[] = parse(await journals.journal(agent_id, 'csv', unit), {
          columns: true,
        });
        const debits: CurrencySums = {};
        const credits: CurrencySums = {};
        for (const { debit = '', credit = '', currency = '' } of records) {
          expect([debit === '', credit === '']).toContain(true);
          if (debit) addSums(debits, currency, atomic(debit, currency));
          else addSums(credits, currency, atomic(credit, currency));
        }
        expect(debits).toEqual(await journals.bookSums(agent_id));
        expect(credits).toEqual(debits);
      }),
      { numRuns: 10 },
    );
  },
);

it('each entry is two lines, of one date, reference and memo, the debit first', async () => {
  const agent_id = await journals.newBook([
    { model: '=HYPERLINK("x")', hub: 'north' },
    { amount: null, evidence: 'UNVERIFIED' },
  ]);
  const [head, ...records]: string[][] = parse(await journals.journal(agent_id, 'csv', 'row'));
  expect(head).toEqual(['date', 'account', 'debit', 'credit', 'currency', 'memo', 'reference', 'status']);
  const day = expect.stringMatching(/^\d{4}-\d\d-\d\d$/);
  const [memo, task] = [`'=HYPERLINK("x") at north`, `task_${agent_id}_${agent_id * 100_000}`];
  expect(records).toEqual([
    [day, 'expenses:inference', '0.002000', '', 'USDC', memo, task, 'cleared'],
    [day, 'assets:wallet:usdc', '', '0.002000', 'USDC', memo, task, 'cleared'],
  ]);
});

it('per day and rail there is one entry', async () => {
  const agent_id = await journals.newBook([{}, {}, { rail: 'xno' }]);
  const records: Record<string, string>[] = parse(await journals.journal(agent_id, 'csv', 'day'), { columns: true });
  const days = await store.query({
    text: `select distinct (collected_at at time zone 'UTC')::date, rail from book_row where agent_id = $1`,
    values: [agent_id],
  });
  expect(records).toHaveLength(2 * days.length);
});

it.each(wordList(journalUnits))(
  'the ledger journal per %s is in order, and its accounts have the balance of the book',
  async unit => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow, { minLength: 1, maxLength: 25 }), async rows => {
        const agent_id = await journals.newBook(rows);
        const transactions = transactionsOf(await journals.journal(agent_id, 'ledger', unit));
        const dates = transactions.map(({ date }) => date);
        expect(dates).toEqual(dates.toSorted());
        const [expenses, assets]: [CurrencySums, CurrencySums] = [{}, {}];
        for (const { postings } of transactions) {
          expect(postings.map(({ account }) => account.split(':')[0])).toEqual(['expenses', 'assets']);
          expect(postings.reduce((sum, { amount }) => sum + amount, 0n)).toBe(0n);
          expect(new Set(postings.map(({ currency }) => currency)).size).toBe(1);
          for (const { account, currency, amount } of postings)
            if (account.startsWith('expenses:')) addSums(expenses, currency, amount);
            else addSums(assets, currency, -amount);
        }
        expect(expenses).toEqual(await journals.bookSums(agent_id));
        expect(assets).toEqual(expenses);
      }),
      { numRuns: 10 },
    );
  },
);

describe('a call whose money has not been seen', () => {
  const pending = { evidence: 'RECORDED_BY_SETTLE', collected: false, arrival_status: 'pending' } as const;
  const taskOf = (agent_id: number, index: number) => `task_${agent_id}_${agent_id * 100_000 + index}`;
  const giveUp = (agent_id: number, index: number) =>
    store.transaction(tx =>
      arrive(tx, [{ task_id: taskOf(agent_id, index), to: 'ARRIVAL_UNVERIFIED', omission_rule: 'no_ingress_receipt' }]),
    );
  const recordsOf = async (agent_id: number, ...asked: [JournalUnit, ExportFilter?]) =>
    parse(await journals.journal(agentId(agent_id), 'csv', ...asked), { columns: true }) as Record<string, string>[];

  it.each(wordList(journalUnits))('is marked as pending, per %s', async unit => {
    const agent_id = await journals.newBook([{}, pending]);
    const statuses = (await recordsOf(agent_id, unit)).map(({ status }) => status);
    expect(statuses).toEqual(['cleared', 'cleared', 'pending', 'pending']);
    const marks = transactionsOf(await journals.journal(agent_id, 'ledger', unit)).map(({ mark }) => mark);
    expect(marks).toEqual(['*', '!']);
  });

  it.each(wordList(journalUnits))(
    'keeps its entry once it is given up, and a second one reverses it, per %s',
    async unit => {
      const agent_id = await journals.newBook([{}, pending, { ...pending, amount: atomicAmount(500n) }]);
      await giveUp(agent_id, 1);
      const records = await recordsOf(agent_id, unit);
      const entries = records.flatMap(({ account, debit, status }) => (debit ? [[status, account, debit]] : []));
      expect(entries).toHaveLength(4);
      expect(entries).toEqual(
        expect.arrayContaining([
          ['cleared', 'expenses:inference', '0.002000'],
          ['reversed', 'expenses:inference', '0.002000'],
          ['pending', 'expenses:inference', '0.000500'],
          ['reversal', 'assets:wallet:usdc', '0.002000'],
        ]),
      );
      const sums: CurrencySums = {};
      for (const { postings } of transactionsOf(await journals.journal(agent_id, 'ledger', unit)))
        for (const { account, currency, amount } of postings)
          if (account.startsWith('expenses:')) addSums(sums, currency, amount);
      expect(sums).toEqual(await journals.bookSums(agent_id));
      expect(sums).toEqual({ USDC: 2500n });
    },
  );

  it.each(wordList(journalUnits))(
    'is reversed in the time in which it was given up, whenever it was recorded, per %s',
    async unit => {
      const agent_id = await journals.newBook([pending]);
      await giveUp(agent_id, 0);
      const later = '2040-05-06T07:08:09.000Z';
      const text = `update book_event set at = $2 where agent_id = $1 and kind = 'transition'`;
      await store.query({ text, values: [agent_id, later] });
      const since = { from: new Date('2040-05-06T00:00:00Z') };
      const statuses = async (filter: ExportFilter) => [
        ...new Set(
          (await recordsOf(agent_id, unit, filter)).map(({ date, status }) => `${status} ${date?.slice(0, 4)}`),
        ),
      ];
      expect(await statuses(since)).toEqual(['reversal 2040']);
      expect(await statuses({ to: since.from })).toEqual([expect.stringMatching(/^reversed 20[23]/)]);
      expect(await statuses({ evidence: 'collected' })).toEqual([]);
    },
  );

  it.each(wordList(journalUnits))('is reversed beyond a page of such rows, per %s', async unit => {
    const rows = exportLimits.page_rows + 1;
    const agent_id = await journals.newBook(Array.from({ length: rows }, () => pending));
    await store.transaction(tx =>
      arrive(
        tx,
        Array.from({ length: rows }, (_, index): Arrival => {
          return { task_id: taskOf(agent_id, index), to: 'ARRIVAL_UNVERIFIED', omission_rule: 'no_ingress_receipt' };
        }),
      ),
    );
    const records = await recordsOf(agent_id, unit);
    const sum = (status: string) =>
      records.reduce((all, one) => all + (one.status === status ? atomic(one.debit || '0', 'USDC') : 0n), 0n);
    expect([sum('reversed'), sum('reversal')]).toEqual([2000n * BigInt(rows), 2000n * BigInt(rows)]);
  });
});
