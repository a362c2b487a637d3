import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { journalUnits } from '../../../../../schema/requests/export.ts';
import {
  type AccountNames,
  type JournalAccount,
  usualAccounts,
} from '../../../../../schema/requests/journal-accounts.ts';
import { wordList } from '../../../../../schema/words.ts';
import { accountName } from '../../../../harness/export/account-name.ts';
import { anyRow } from '../../../../harness/export/book.ts';
import { addSums, atomic, type CurrencySums, journalsOf } from '../../../../harness/export/journal.ts';
import { ownFolder } from '../../../../harness/scratch.ts';
import { freshStore } from '../../../../harness/store.ts';

let journals: ReturnType<typeof journalsOf>;
let folder: string;
beforeAll(async () => {
  const [store, own] = await Promise.all([freshStore(), ownFolder()]);
  journals = journalsOf(store);
  folder = own;
});

it.each(wordList(journalUnits))('hledger reads the journal per %s, and reports the same balance', async unit => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyRow, { minLength: 1, maxLength: 25 }), async rows => {
      const agent_id = await journals.newBook(rows);
      const file = join(folder, `${unit}-${agent_id}.journal`);
      writeFileSync(file, await journals.journal(agent_id, 'ledger', unit));
      expect(hledgerSums(file, 'expenses', 1n)).toEqual(await journals.bookSums(agent_id));
      expect(hledgerSums(file, 'assets', -1n)).toEqual(await journals.bookSums(agent_id));
    }),
    { numRuns: 8 },
  );
});

it('hledger reads each name of an account that may be set as that name, with the balance of its kind', async () => {
  const agent_id = await journals.newBook([
    {},
    { hub: 'svc', model: 'board' },
    { evidence: 'foreign_ingest' },
    { hub: 'svc', model: 'board', facts: { pay_to: '0x1' } },
    { hub: 'svc', model: 'register' },
    { hub: 'svc', model: null },
  ]);
  const set = Object.keys(usualAccounts) as JournalAccount[];
  const names = fc
    .uniqueArray(accountName, { minLength: set.length, maxLength: set.length })
    .map(found => Object.fromEntries(set.map((account, index) => [account, found[index]])) as AccountNames);
  await fc.assert(
    fc.asyncProperty(names, async asked => {
      const file = join(folder, `named-${agent_id}.journal`);
      writeFileSync(file, await journals.journal(agent_id, 'ledger', 'row', {}, asked));
      const arguments_ = ['-f', file, 'balance', '--no-total', '--flat', '-O', 'csv', '--layout=bare'];
      const balances = parse<Record<string, string>>(execFileSync('hledger', arguments_, options), { columns: true });
      const found = Object.fromEntries(balances.map(({ account = '', balance }) => [account, balance]));
      const expected = set.map(account => [asked[account], account === 'wallet' ? '-0.012000' : '0.002000']);
      expect(found).toEqual(Object.fromEntries(expected));
    }),
    { numRuns: 30 },
  );
});

const options = { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C.UTF-8' } } as const;

/** The sums that hledger computes for all accounts of that name, by currency. */
function hledgerSums(file: string, account: string, sign: bigint): CurrencySums {
  const balance = execFileSync(
    'hledger',
    ['-f', file, 'balance', account, '--no-total', '--flat', '-O', 'csv', '--layout=bare'],
    options,
  );
  expect(execFileSync('hledger', ['-f', file, 'check', 'ordereddates'], options)).toBe('');
  const found: CurrencySums = {};
  for (const { commodity = '', balance: text = '' } of parse<Record<string, string>>(balance, { columns: true }))
    if (commodity !== '') addSums(found, commodity, sign * atomic(text, commodity));
  return found;
}
