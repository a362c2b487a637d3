import { z } from 'zod';
import { exportLimits } from '../limits.ts';
import { endpointsOf, type SoldField } from '../paid-operations.ts';
import { storedText } from './text.ts';

/* Accounts of a journal: one for each kind of spend, and the wallet that pays. A request may name them. */

interface KindOfSpend {
  /** The account that is debited, unless the request names another. */
  readonly account: string;
  readonly holds: string;
  readonly note?: string;
  /** Noun of one payment, and of several. */
  readonly one: string;
  readonly more: string;
}

/** The kinds of spend. */
export const spendKinds = {
  inference: {
    account: 'expenses:inference',
    holds: 'inference calls, including quotes of tasks',
    one: 'call',
    more: 'calls',
  },
  stamps: { account: 'expenses:stamps', holds: 'stamps of the board', one: 'stamp', more: 'stamps' },
  foreign: {
    account: 'expenses:foreign',
    holds: 'ingested payments',
    note: 'The stamp of an ingest is not a row of the book, so no entry contains it.',
    one: 'foreign payment',
    more: 'foreign payments',
  },
  jobs: {
    account: 'expenses:jobs',
    holds: 'prices of jobs, which a poster pays to the winner',
    one: 'job',
    more: 'jobs',
  },
  fees: {
    account: 'expenses:fees',
    holds: "registration, and this service's fee for a paid job",
    one: 'fee',
    more: 'fees',
  },
  other: {
    account: 'expenses:other',
    holds: 'rows that belong to no other kind',
    note: 'The memo of each such entry contains `Unclassified` or, with `per=day`, `unclassified`.',
    one: 'unclassified payment',
    more: 'unclassified payments',
  },
} as const satisfies Readonly<Record<string, KindOfSpend>>;
export type SpendKind = keyof typeof spendKinds;

/** Placeholder for the currency in the name of the wallet's account. */
export const CURRENCY_PLACE = '<currency>';
const WALLET = `assets:wallet:${CURRENCY_PLACE}`;

export type JournalAccount = SpendKind | 'wallet';
export type AccountNames = Readonly<Record<JournalAccount, string>>;

/** All default names. */
export const usualAccounts: AccountNames = {
  ...mapped(spendKinds, ({ account }) => account),
  wallet: WALLET,
};

/**
 * The kind of spend for each row that a sale adds to a book, by the paid field. An ingest adds the payment to another service; its own
 * stamp is in no book and in no journal.
 */
export const kindOfSale: Readonly<Record<SoldField, SpendKind>> = {
  'Mutation.createChatCompletion': 'inference',
  'Subscription.chatCompletionStream': 'inference',
  'Mutation.createResponse': 'inference',
  'Subscription.responseStream': 'inference',
  'Mutation.createMessage': 'inference',
  'Subscription.messageStream': 'inference',
  'Mutation.createImage': 'inference',
  'Mutation.createEmbeddings': 'inference',
  'Mutation.createTranscription': 'inference',
  'Mutation.requestTask': 'inference',
  'Mutation.quoteTask': 'inference',
  'Mutation.ingestForeignSpend': 'foreign',
  'Mutation.createPost': 'stamps',
  'Mutation.createComment': 'stamps',
  'Mutation.flagPost': 'stamps',
  'Mutation.flagComment': 'stamps',
  'Mutation.flagJob': 'stamps',
  'Mutation.postJob': 'stamps',
  'Mutation.bidOnJob': 'stamps',
  'Mutation.payJob': 'jobs',
  'Mutation.payJob.fee': 'fees',
  'Mutation.registerAgent': 'fees',
};

/** Description of each account, for OpenAPI and the graph. */
export const accountDescriptions: AccountNames = {
  ...mapped<SpendKind, KindOfSpend>(spendKinds, ({ account, holds, note }, kind) => {
    const sold = endpointsOfKind(kind as SpendKind);
    const by = sold.length === 0 ? '' : ` (${sold.join(', ')})`;
    return [`Account debited for ${holds}${by}. A reversal credits it.`, note, `Default: ${account}.`]
      .filter(Boolean)
      .join(' ');
  }),
  wallet: `Account credited. A reversal debits it. ${CURRENCY_PLACE} in it is replaced with the currency in lower case. Default: ${WALLET}.`,
};

function endpointsOfKind(kind: SpendKind): readonly string[] {
  const fields = Object.entries(kindOfSale).flatMap(([field, of]) => (of === kind ? [field] : []));
  return [...new Set(fields.flatMap(endpointsOf))];
}

function mapped<K extends string, V>(table: Readonly<Record<K, V>>, say: (value: V, name: string) => string) {
  return Object.fromEntries(Object.entries<V>(table).map(([name, value]) => [name, say(value, name)])) as Record<
    K,
    string
  >;
}

/**
 * An account name that ledger and hledger read in the same way: two spaces or a tab would end it, `;` would begin a comment, and a name
 * that begins with `(`, `[`, `<`, `*` or `!` would be an entry of another kind. Spreadsheets evaluate text that begins with `=` as a
 * formula.
 */
const AccountName = storedText
  .max(exportLimits.account_chars_max)
  .refine(name => /^[\p{L}\p{N}]/u.test(name), { error: 'has to begin with a letter or a digit' })
  .refine(name => !/[\p{Cc};]|[^\S ]/u.test(name), {
    error: 'contains a semicolon, a control character, or white space other than a space',
  })
  .refine(name => !name.includes('  '), { error: 'contains two spaces in a row' })
  .refine(name => name.split(':').every(part => part !== '' && part.trim() === part), {
    error: 'contains a part between colons that is empty, or that begins or ends with a space',
  });
const ACCOUNT_FORM = `Up to ${exportLimits.account_chars_max} characters, of which the first is a letter or digit. Parts are separated by colons; none is empty, or begins or ends with a space. Not allowed: semicolons, control characters, two spaces in a row, other white space.`;

type AccountMember = `account_${JournalAccount}`;
const memberOf = (account: string) => `account_${account}` as AccountMember;
const every = Object.entries(accountDescriptions) as [JournalAccount, string][];

/** The names of accounts, each as a member. */
export const accountMembers = Object.fromEntries(
  every.map(([account, description]) => [
    memberOf(account),
    AccountName.optional().describe(`${description} ${ACCOUNT_FORM}`).meta({ graph: account }),
  ]),
) as Record<AccountMember, z.ZodOptional<typeof AccountName>>;

/** The names of accounts as one member. */
export const JournalAccounts = z.strictObject(accountMembers);

/** The names that a request sets, by account. */
export function accountsNamed(request: Partial<Record<AccountMember, string | undefined>>): Partial<AccountNames> {
  return Object.fromEntries(
    every.flatMap(([account]) => {
      const name = request[memberOf(account)];
      return name === undefined ? [] : [[account, name]];
    }),
  );
}

/** The name of every account. Accounts that the request does not name have their default. */
export function accountsOf(request: Partial<Record<AccountMember, string | undefined>>): AccountNames {
  return { ...usualAccounts, ...accountsNamed(request) };
}
