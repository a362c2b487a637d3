import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { journalUnits } from '../../../../../schema/requests/export.ts';
import { anyRow } from '../../../../harness/export/book.ts';
import { added, atomic, journalsOf, type Sums } from '../../../../harness/export/journal.ts';
import { ownFolder } from '../../../../harness/scratch.ts';
import { freshStore } from '../../../../harness/store.ts';

let journals: ReturnType<typeof journalsOf>;
let folder: string;
beforeAll(async () => {
  const [store, own] = await Promise.all([freshStore(), ownFolder()]);
  journals = journalsOf(store);
  folder = own;
});

it.each(journalUnits)('hledger reads the journal per %s, and reports the same balance', async unit => {
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

/** What hledger finds on all accounts of that name, by currency. */
function hledgerSums(file: string, account: string, sign: bigint): Sums {
  const options = { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C.UTF-8' } } as const;
  const balance = execFileSync(
    'hledger',
    ['-f', file, 'balance', account, '--no-total', '--flat', '-O', 'csv', '--layout=bare'],
    options,
  );
  expect(execFileSync('hledger', ['-f', file, 'check', 'ordereddates'], options)).toBe('');
  const found: Sums = {};
  for (const { commodity = '', balance: text = '' } of parse<Record<string, string>>(balance, { columns: true }))
    if (commodity !== '') added(found, commodity, sign * atomic(text, commodity));
  return found;
}
