import { stringify } from 'csv-stringify/sync';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { JournalUnit } from '../../../schema/requests/export.ts';
import { type Currency, currencyOf, decimalText } from './currency.ts';

/*
 * Spend as an accountant books it, by double entry: each amount is debited to an account of expense and credited to the
 * wallet's. Rows without an amount are no spend, and in no entry, as they are in no total of the book.
 */

/** One row of the book that carries an amount, or all of one day and rail together. */
export interface Spend {
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string;
  readonly rail: string | null;
  readonly amount: bigint;
  /** What it was for: model and hub, or how many rows it stands for. */
  readonly memo: string;
  /** By which it is found again: the task, or the days's rows. */
  readonly reference: string;
  /** The payment on its chain. */
  readonly payment_ref: string | null;
}

export interface Posting {
  readonly date: string;
  readonly account: string;
  readonly debit: string;
  readonly credit: string;
  readonly currency: string;
  readonly memo: string;
  readonly reference: string;
}

/** Two postings of the same amount, the debit first. */
export function postings(spend: Spend): readonly [Posting, Posting] {
  const currency = currencyOf(spend.rail);
  const amount = decimalText(spend.amount, currency);
  const same = { date: spend.day, currency: currency.code, memo: spend.memo, reference: spend.reference };
  const { expense, wallet } = accounts(currency);
  return [
    { ...same, account: expense, debit: amount, credit: '' },
    { ...same, account: wallet, debit: '', credit: amount },
  ];
}

function accounts({ code }: Currency) {
  return { expense: 'expenses:inference', wallet: `assets:wallet:${code.toLowerCase()}` };
}

const columns = [
  'date',
  'account',
  'debit',
  'credit',
  'currency',
  'memo',
  'reference',
] as const satisfies (keyof Posting)[];

export const journalCsvHead = `${columns.join()}\n`;

/** Lines of CSV under `journalCsvHead`. */
export function journalCsv(spends: readonly Spend[]): string {
  const records = spends.flatMap(postings).map(posting => columns.map(name => posting[name]));
  return records.length === 0 ? '' : stringify(records, { escape_formulas: true });
}

/** Says of a journal how its amounts are written, so that a program that reads it rounds none, and which rows it is of. */
export function ledgerHead(filters: JsonObject): string {
  const narrowed = Object.entries(filters).map(([name, value]) => `${name} ${plain(String(value))}`);
  const only = narrowed.length === 0 ? '' : ` Only rows that match: ${narrowed.join(', ')}.`;
  return `; Each amount is in full. Accounts: expenses:inference, assets:wallet:<currency>.${only}\n\n`;
}

/** Transactions in the format that ledger and hledger read. */
export function ledgerJournal(spends: readonly Spend[]): string {
  return spends.map(transaction).join('');
}

function transaction(spend: Spend): string {
  const currency = currencyOf(spend.rail);
  const { expense, wallet } = accounts(currency);
  const amount = decimalText(spend.amount, currency);
  const payment = spend.payment_ref === null ? '' : `  ; payment_ref: ${plain(spend.payment_ref)}\n`;
  return (
    `${spend.day} * (${code(spend.reference)}) ${plain(spend.memo)}\n${payment}` +
    `  ${expense}  ${amount} ${currency.code}\n  ${wallet}  -${amount} ${currency.code}\n\n`
  );
}

/** A description ends at the line's end, at `;` its comment begins, and `|` splits it. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp};|]+/gu, ' ').trim();
}

/** A code ends at the first closing parenthesis. */
function code(text: string): string {
  return plain(text).replace(/[()]/g, ' ');
}

/** What one row or one day says in an entry. */
export const journalWords = {
  row: ({ model, hub }: { readonly model: string | null; readonly hub: string | null }) =>
    [model ?? 'paid call', hub].filter(Boolean).join(' at '),
  day: ({ rows }: { readonly rows: number }) => (rows === 1 ? '1 paid call' : `${rows} paid calls`),
} as const satisfies Record<JournalUnit, unknown>;
