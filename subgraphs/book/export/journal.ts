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
 * A double-entry journal: each amount is debited to the account of its kind and credited to the wallet. Rows that never had an
 * amount are not in it. If a transfer was not found, its entry stays. A second entry on the same accounts reverses it on the day
 * the amount was given up, so that both accounts agree with the book.
 */

/** Values of `status`. `reversed` is the first entry of an amount that was given up, `reversal` the second. */
export const spendStatuses = {
  cleared: { mark: '*', memo: { row: '', day: 'paid' } },
  pending: { mark: '!', memo: { row: 'Pending: ', day: 'pending' } },
  reversed: { mark: '*', memo: { row: 'Reversed later: ', day: 'later reversed' } },
  reversal: { mark: '*', memo: { row: 'Reversal: ', day: 'reversed' } },
} as const;
export type SpendStatus = keyof typeof spendStatuses;

/** Spending of one entry: a row with an amount, or all rows of one day, rail, status and kind. */
export interface Spend {
  readonly status: SpendStatus;
  /** Kind of spending. It determines the account that is debited, or that a reversal credits. */
  readonly kind: SpendKind;
  /** UTC day as `YYYY-MM-DD`. */
  readonly day: string;
  readonly rail: string | null;
  readonly amount: bigint;
  /** Text of the entry: model, hub and, if different, the model that answered; or the number of combined rows. */
  readonly memo: string;
  /** Task id of the row, or the seqs of the combined rows. */
  readonly reference: string;
  /** Payment as `network:transaction`. Null for combined rows, and for a row without a payment. */
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

/** Returns two postings of the same amount, the debit first. */
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

/** Lines of CSV that follow `journalCsvHead`. */
export function journalCsv(spends: readonly Spend[], names: AccountNames): string {
  const records = spends.flatMap(spend => postings(spend, names)).map(posting => columns.map(name => posting[name]));
  return records.length === 0 ? '' : stringify(records, { escape_formulas: true });
}

/**
 * Header of a journal. It states that amounts have all their decimals, so that programs do not round them. It also lists the
 * filters of the rows and the account of each kind.
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

/** Text without the characters that end or split a description: line ends, `;` (begins a comment) and `|`. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp};|]+/gu, ' ').trim();
}

/** Text of a code, without parentheses, because a code ends at the first closing one. */
function code(text: string): string {
  return plain(text).replace(/[()]/g, ' ');
}

interface EntryKind {
  readonly status: SpendStatus;
  readonly kind: SpendKind;
}

/** Requested model, hub, and the model that the hub named. Each is null if unknown. */
interface JournalRoute {
  readonly model: string | null;
  readonly hub: string | null;
  readonly answered_model: string | null;
}

/** Texts of an entry for one row or one day. */
export const journalWords = {
  row: ({ status, kind, model, hub, answered_model }: EntryKind & JournalRoute) => {
    const requested = [model ?? 'paid call', hub].filter(Boolean).join(' at ');
    const what =
      answered_model === null || answered_model === model ? requested : `${requested}, hub named ${answered_model}`;
    return spendStatuses[status].memo.row + (kind === 'other' ? `Unclassified: ${what}` : what);
  },
  day: ({ status, kind, rows }: EntryKind & { readonly rows: number }) =>
    `${rows} ${spendStatuses[status].memo.day} ${rows === 1 ? spendKinds[kind].one : spendKinds[kind].more}`,
} as const satisfies Record<JournalUnit, unknown>;
