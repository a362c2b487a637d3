import { expect } from 'vitest';
import { type AgentId, agentId } from '../../../schema/ids.ts';
import type { JournalFormat, JournalUnit } from '../../../schema/requests/export.ts';
import { type AccountNames, usualAccounts } from '../../../schema/requests/journal-accounts.ts';
import { bookJournal } from '../../../subgraphs/book/export/journal-stream.ts';
import { spanOf } from '../../../subgraphs/book/export/pages.ts';
import type { ExportFilter } from '../../../subgraphs/book/export/publish.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { bookOf, type RowChanges } from './book.ts';

/** Books in one database, their journals, and the sums that the books themselves hold. */
export function journalsOf(store: Database) {
  let agents = 0;
  return {
    async newBook(rows: readonly RowChanges[]): Promise<AgentId> {
      const agent_id = agentId(++agents);
      await bookOf(store, agent_id, rows);
      return agent_id;
    },
    async journal(
      agent_id: AgentId,
      format: JournalFormat,
      unit: JournalUnit,
      filter: ExportFilter = {},
      names: Partial<AccountNames> = {},
    ): Promise<string> {
      const source = { database: store, span: await spanOf(store, agent_id, 0, filter), base_url: '' };
      let text = '';
      for await (const piece of bookJournal(source, format, unit, { ...usualAccounts, ...names })) text += piece.text;
      return text;
    },
    /** The book's own sums by currency. */
    async bookSums(agent_id: AgentId): Promise<CurrencySums> {
      const [head] = await store.query<{ by_rail: Record<string, { amount: string }> }>({
        text: 'select by_rail from book where agent_id = $1',
        values: [agent_id],
      });
      const sums = Object.entries(head?.by_rail ?? {}).map(
        ([rail, { amount }]) => [rail.toUpperCase(), BigInt(amount)] as const,
      );
      return Object.fromEntries(sums.filter(([, sum]) => sum > 0n));
    },
  };
}

/** Sums by currency in atomic units. */
export type CurrencySums = Record<string, bigint>;

const decimals: Readonly<Record<string, number>> = { USDC: 6, XNO: 30 };
/** Atomic units of a decimal amount, which may be negative. */
export function atomic(text: string, currency: string): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  expect(fraction.length).toBeLessThanOrEqual(decimals[currency] ?? 0);
  return BigInt(whole + fraction.padEnd(decimals[currency] ?? 0, '0'));
}

export function addSums(into: CurrencySums, currency: string, amount: bigint): void {
  const sum = (into[currency] ?? 0n) + amount;
  if (sum === 0n) delete into[currency];
  else into[currency] = sum;
}

interface Posting {
  readonly account: string;
  readonly currency: string;
  readonly amount: bigint;
}

/** A transaction of a journal in the format of ledger and hledger. */
export interface Transaction {
  readonly date: string;
  /** `!` marks a pending transaction, `*` a cleared one. */
  readonly mark: string;
  readonly postings: readonly Posting[];
}

const HEAD = /^(?:; [^\n]+\n)+\n/;
/** Date, code in parentheses, description, comments, and at least two postings. Our journals must not use any other part of the format. */
const TRANSACTION =
  /(?<date>\d{4}-\d\d-\d\d) (?<mark>[*!]) \([^()\n]*\)[^\n;|]*\n(?: {2}; [^\n]*\n)*(?<postings>(?: {2}\S+(?: \S+)* {2}-?[0-9.]+ [A-Z]+\n){2,})\n/y;
const POSTING = /^ {2}(\S+(?: \S+)*) {2}(-?[0-9.]+) ([A-Z]+)$/gm;

/** All transactions of a journal. @throws if any text is not part of one */
export function transactionsOf(text: string): readonly Transaction[] {
  const found: Transaction[] = [];
  for (let at = HEAD.exec(text)?.[0].length ?? 0; at < text.length; ) {
    TRANSACTION.lastIndex = at;
    const read = TRANSACTION.exec(text);
    if (!read?.groups) throw new Error(`no transaction: ${text.slice(at, at + 200)}`);
    at += read[0].length;
    const { date = '', mark = '', postings = '' } = read.groups;
    const parts = [...postings.matchAll(POSTING)].map(([, account = '', amount = '', currency = '']) => ({
      account,
      currency,
      amount: atomic(amount, currency),
    }));
    found.push({ date, mark, postings: parts });
  }
  return found;
}
