import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { type AgentId, agentId } from '../../../../schema/ids.ts';
import { type JournalFormat, type JournalUnit, journalUnits } from '../../../../schema/requests/export.ts';
import { bookJournal } from '../../../../subgraphs/book/export/journal-stream.ts';
import { spanOf } from '../../../../subgraphs/book/export/pages.ts';
import { anyRow, bookOf } from '../../../harness/export/book.ts';
import { ownFolder } from '../../../harness/scratch.ts';
import { freshStore } from '../../../harness/store.ts';

let store: Awaited<ReturnType<typeof freshStore>>;
let folder: string;
let agents = 0;
beforeAll(async () => {
  [store, folder] = await Promise.all([freshStore(), ownFolder()]);
});

async function newBook(rows: Parameters<typeof bookOf>[2]): Promise<AgentId> {
  const agent_id = agentId(++agents);
  await bookOf(store, agent_id, rows);
  return agent_id;
}

async function journal(agent_id: AgentId, format: JournalFormat, unit: JournalUnit): Promise<string> {
  const source = { database: store, span: await spanOf(store, agent_id, 0), base_url: '' };
  let text = '';
  for await (const piece of bookJournal(source, format, unit)) text += piece.text;
  return text;
}

const decimals = { USDC: 6, XNO: 30 } as Record<string, number>;
/** Atomic units of an amount in full, whatever its sign. */
function atomic(text: string, currency: string): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  expect(fraction.length).toBeLessThanOrEqual(decimals[currency] ?? 0);
  return BigInt(whole + fraction.padEnd(decimals[currency] ?? 0, '0'));
}

/** What the book's own counters say, by currency. */
async function bookSums(agent_id: AgentId): Promise<Record<string, bigint>> {
  const [head] = await store.query<{ by_rail: Record<string, { amount: string }> }>({
    text: 'select by_rail from book where agent_id = $1',
    values: [agent_id],
  });
  const sums = Object.entries(head?.by_rail ?? {}).map(
    ([rail, { amount }]) => [rail.toUpperCase(), BigInt(amount)] as const,
  );
  return Object.fromEntries(sums.filter(([, sum]) => sum > 0n));
}

function added(into: Record<string, bigint>, currency: string, amount: bigint): void {
  const sum = (into[currency] ?? 0n) + amount;
  if (sum === 0n) delete into[currency];
  else into[currency] = sum;
}

it.each(journalUnits)(
  "debits and credits per %s are alike, and come to the book's sums to the last unit",
  async unit => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow, { minLength: 1, maxLength: 25 }), async rows => {
        const agent_id = await newBook(rows);
        const records: Record<string, string>[] = parse(await journal(agent_id, 'csv', unit), { columns: true });
        const debits: Record<string, bigint> = {};
        const credits: Record<string, bigint> = {};
        for (const { debit = '', credit = '', currency = '' } of records) {
          expect([debit === '', credit === '']).toContain(true);
          if (debit) added(debits, currency, atomic(debit, currency));
          else added(credits, currency, atomic(credit, currency));
        }
        expect(debits).toEqual(await bookSums(agent_id));
        expect(credits).toEqual(debits);
      }),
      { numRuns: 10 },
    );
  },
);

it('each entry is two lines, of one date, reference and memo, the debit first', async () => {
  const agent_id = await newBook([
    { model: '=HYPERLINK("x")', hub: 'north' },
    { amount: null, evidence: 'UNVERIFIED' },
  ]);
  const [head, ...records]: string[][] = parse(await journal(agent_id, 'csv', 'row'));
  expect(head).toEqual(['date', 'account', 'debit', 'credit', 'currency', 'memo', 'reference']);
  const day = expect.stringMatching(/^\d{4}-\d\d-\d\d$/);
  const [memo, task] = [`'=HYPERLINK("x") at north`, `task_${agent_id}_${agent_id * 100_000}`];
  expect(records).toEqual([
    [day, 'expenses:inference', '0.002000', '', 'USDC', memo, task],
    [day, 'assets:wallet:usdc', '', '0.002000', 'USDC', memo, task],
  ]);
});

it('per day and rail there is one entry', async () => {
  const agent_id = await newBook([{}, {}, { rail: 'xno' }]);
  const records: Record<string, string>[] = parse(await journal(agent_id, 'csv', 'day'), { columns: true });
  const days = await store.query({
    text: `select distinct (collected_at at time zone 'UTC')::date, rail from book_row where agent_id = $1`,
    values: [agent_id],
  });
  expect(records).toHaveLength(2 * days.length);
});

it.each(journalUnits)('hledger reads the journal per %s, and reports the same balance', async unit => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyRow, { minLength: 1, maxLength: 25 }), async rows => {
      const agent_id = await newBook(rows);
      const file = join(folder, `${unit}-${agent_id}.journal`);
      writeFileSync(file, await journal(agent_id, 'ledger', unit));
      expect(hledgerSums(file, 'expenses', 1n)).toEqual(await bookSums(agent_id));
      expect(hledgerSums(file, 'assets', -1n)).toEqual(await bookSums(agent_id));
    }),
    { numRuns: 8 },
  );
});

/** What hledger finds on all accounts of that name, by currency. */
function hledgerSums(file: string, account: string, sign: bigint): Record<string, bigint> {
  const options = { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C.UTF-8' } } as const;
  const balance = execFileSync(
    'hledger',
    ['-f', file, 'balance', account, '--no-total', '--flat', '-O', 'csv', '--layout=bare'],
    options,
  );
  expect(execFileSync('hledger', ['-f', file, 'check', 'ordereddates'], options)).toBe('');
  const found: Record<string, bigint> = {};
  for (const { commodity = '', balance: text = '' } of parse<Record<string, string>>(balance, { columns: true }))
    if (commodity !== '') added(found, commodity, sign * atomic(text, commodity));
  return found;
}
