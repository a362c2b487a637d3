import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { journalUnits } from '../../../../schema/requests/export.ts';
import { anyRow } from '../../../harness/export/book.ts';
import { added, atomic, journalsOf, type Sums, transactionsOf } from '../../../harness/export/journal.ts';
import { freshStore } from '../../../harness/store.ts';

let store: Awaited<ReturnType<typeof freshStore>>;
let journals: ReturnType<typeof journalsOf>;
beforeAll(async () => {
  store = await freshStore();
  journals = journalsOf(store);
});

it.each(journalUnits)(
  "debits and credits per %s are alike, and come to the book's sums to the last unit",
  async unit => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow, { minLength: 1, maxLength: 25 }), async rows => {
        const agent_id = await journals.newBook(rows);
        const records: Record<string, string>[] = parse(await journals.journal(agent_id, 'csv', unit), {
          columns: true,
        });
        const debits: Sums = {};
        const credits: Sums = {};
        for (const { debit = '', credit = '', currency = '' } of records) {
          expect([debit === '', credit === '']).toContain(true);
          if (debit) added(debits, currency, atomic(debit, currency));
          else added(credits, currency, atomic(credit, currency));
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
  expect(head).toEqual(['date', 'account', 'debit', 'credit', 'currency', 'memo', 'reference']);
  const day = expect.stringMatching(/^\d{4}-\d\d-\d\d$/);
  const [memo, task] = [`'=HYPERLINK("x") at north`, `task_${agent_id}_${agent_id * 100_000}`];
  expect(records).toEqual([
    [day, 'expenses:inference', '0.002000', '', 'USDC', memo, task],
    [day, 'assets:wallet:usdc', '', '0.002000', 'USDC', memo, task],
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

it.each(journalUnits)(
  'the ledger journal per %s is in order, and its accounts have the balance of the book',
  async unit => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow, { minLength: 1, maxLength: 25 }), async rows => {
        const agent_id = await journals.newBook(rows);
        const transactions = transactionsOf(await journals.journal(agent_id, 'ledger', unit));
        const dates = transactions.map(({ date }) => date);
        expect(dates).toEqual(dates.toSorted());
        const [expenses, assets]: [Sums, Sums] = [{}, {}];
        for (const { postings } of transactions) {
          expect(postings.map(({ account }) => account.split(':')[0])).toEqual(['expenses', 'assets']);
          expect(postings.reduce((sum, { amount }) => sum + amount, 0n)).toBe(0n);
          expect(new Set(postings.map(({ currency }) => currency)).size).toBe(1);
          for (const { account, currency, amount } of postings)
            if (account.startsWith('expenses:')) added(expenses, currency, amount);
            else added(assets, currency, -amount);
        }
        expect(expenses).toEqual(await journals.bookSums(agent_id));
        expect(assets).toEqual(expenses);
      }),
      { numRuns: 10 },
    );
  },
);
