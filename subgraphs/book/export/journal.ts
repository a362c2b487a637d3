import { stringify } from 'csv-stringify/sync';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { JournalUnit } from '../../../schema/requests/export.ts';
import {
  type AccountNames,
  CURRENCY_PLACE,
  type SpendKind,
  spendKinds,
} from '../../../schema/requests/journal-accounts.ts';
import { type Currency, currencyOf, decimalText } from './currency.ts';

/*
 * Spend as an accountant books it, by double entry: each amount is debited to the account of its kind and credited to the
 * wallet's. Rows that never had an amount are no spend, and in no entry, as they are in no total of the book. One whose
 * transfer was not found keeps its entry, and a second one reverses it on the day on which it was given up: whoever has booked the
 * first finds the second, on the same two accounts, and both together come to what the book says.
 */

/** Words of `status`: `reversed` is the first entry of an amount that was given up, `reversal` its second. */
export const spendStatuses = {
  cleared: { mark: '*', memo: { row: '', day: 'paid' } },
  pending: { mark: '!', memo: { row: 'Pending: ', day: 'pending' } },
  reversed: { mark: '*', memo: { row: 'Reversed later: ', day: 'later reversed' } },
  reversal: { mark: '*', memo: { row: 'Reversal: ', day: 'reversed' } },
} as const;
export type SpendStatus = keyof typeof spendStatuses;

/** One row of the book that carries an amount, or all of one day, rail, status and kind together. */
export interface Spend {
  readonly status: SpendStatus;
  /** Says which account is debited; of a reversal which one is credited. */
  readonly kind: SpendKind;
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string;
  readonly rail: string | null;
  readonly amount: bigint;
  /** What it was for: the model, the hub and the other model that it named, or how many rows it stands for. */
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
  readonly status: SpendStatus;
}

/** Two postings of the same amount, the debit first. */
export function postings(spend: Spend, names: AccountNames): readonly [Posting, Posting] {
  const currency = currencyOf(spend.rail);
  const amount = decimalText(spend.amount, currency);
  const { day: date, memo, reference, status } = spend;
  const same = { date, currency: currency.code, memo, reference, status };
  const { debited, credited } = accounts(spend, currency, names);
  return [
    { ...same, account: debited, debit: amount, credit: '' },
    { ...same, account: credited, debit: '', credit: amount },
  ];
}

function accounts({ status, kind }: Spend, { code }: Currency, names: AccountNames) {
  const expense = names[kind];
  const wallet = names.wallet.replaceAll(CURRENCY_PLACE, code.toLowerCase());
  return status === 'reversal' ? { debited: wallet, credited: expense } : { debited: expense, credited: wallet };
}

const columns = [
  'date',
  'account',
  'debit',
  'credit',
  'currency',
  'memo',
  'reference',
  'status',
] as const satisfies (keyof Posting)[];

export const journalCsvHead = `${columns.join()}\n`;

/** Lines of CSV under `journalCsvHead`. */
export function journalCsv(spends: readonly Spend[], names: AccountNames): string {
  const records = spends.flatMap(spend => postings(spend, names)).map(posting => columns.map(name => posting[name]));
  return records.length === 0 ? '' : stringify(records, { escape_formulas: true });
}

/**
 * Says of a journal how its amounts are written, so that a program that reads it rounds none, which rows it is of, and the account of
 * each kind, as a request sets it.
 */
export function ledgerHead(filters: JsonObject, names: AccountNames): string {
  const narrowed = Object.entries(filters).map(([name, value]) => `${name} ${plain(String(value))}`);
  const only = narrowed.length === 0 ? '' : ` Filters: ${narrowed.join(', ')}.`;
  const accounts_used = Object.entries(names).map(([account, name]) => `; account_${account}=${name}\n`);
  return `; Each amount is in full. ! marks pending entries.${only}\n${accounts_used.join('')}\n`;
}

/** Transactions in the format that ledger and hledger read. */
export function ledgerJournal(spends: readonly Spend[], names: AccountNames): string {
  return spends.map(spend => transaction(spend, names)).join('');
}

function transaction(spend: Spend, names: AccountNames): string {
  const currency = currencyOf(spend.rail);
  const { debited, credited } = accounts(spend, currency, names);
  const { mark } = spendStatuses[spend.status];
  const amount = decimalText(spend.amount, currency);
  const payment = spend.payment_ref === null ? '' : `  ; payment_ref: ${plain(spend.payment_ref)}\n`;
  return (
    `${spend.day} ${mark} (${code(spend.reference)}) ${plain(spend.memo)}\n${payment}` +
    `  ${debited}  ${amount} ${currency.code}\n  ${credited}  -${amount} ${currency.code}\n\n`
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

interface Named {
  readonly status: SpendStatus;
  readonly kind: SpendKind;
}

/** Which model was asked for where, and the one that the hub named; null where nothing is known of it. */
interface JournalRoute {
  readonly model: string | null;
  readonly hub: string | null;
  readonly answered_model: string | null;
}

/** What one row or one day says in an entry. */
export const journalWords = {
  row: ({ status, kind, model, hub, answered_model }: Named & JournalRoute) => {
    const asked = [model ?? 'paid call', hub].filter(Boolean).join(' at ');
    const what = answered_model === null || answered_model === model ? asked : `${asked}, hub named ${answered_model}`;
    return spendStatuses[status].memo.row + (kind === 'other' ? `Unclassified: ${what}` : what);
  },
  day: ({ status, kind, rows }: Named & { readonly rows: number }) =>
    `${rows} ${spendStatuses[status].memo.day} ${rows === 1 ? spendKinds[kind].one : spendKinds[kind].more}`,
} as const satisfies Record<JournalUnit, unknown>;
