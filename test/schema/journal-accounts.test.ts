import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JournalRequest } from '../../schema/requests/export.ts';
import {
  accountDescriptions,
  accountMembers,
  accountsNamed,
  accountsOf,
  usualAccounts,
} from '../../schema/requests/journal-accounts.ts';
import { parseRequest } from '../../schema/requests/parse.ts';
import { accountName } from '../harness/export/account-name.ts';

describe('names of accounts', () => {
  it('are each a member of the request, and have a default, which is a legal name too', () => {
    expect(Object.keys(accountMembers)).toEqual(Object.keys(accountDescriptions).map(name => `account_${name}`));
    const members = Object.fromEntries(Object.entries(usualAccounts).map(([one, name]) => [`account_${one}`, name]));
    expect(accountsNamed(parseRequest(JournalRequest, members))).toEqual(usualAccounts);
    expect(accountsOf(parseRequest(JournalRequest, {}))).toEqual(usualAccounts);
    const one = accountsOf(parseRequest(JournalRequest, { account_fees: 'Fees' }));
    expect(one).toEqual({ ...usualAccounts, fees: 'Fees' });
  });

  it('may be any that ledger and hledger read as one name', () => {
    fc.assert(
      fc.property(accountName, name => {
        expect(accountsNamed(parseRequest(JournalRequest, { account_jobs: name }))).toEqual({ jobs: name });
      }),
    );
  });

  it.each<[string, string, string]>([
    ['two spaces in a row', 'Expenses:AI  calls', 'two spaces in a row'],
    ['a tab', 'Expenses:AI\tcalls', 'white space other than a space'],
    ['a line break', 'Expenses\nassets:wallet', 'control character'],
    ['a space that does not break', 'Expenses:AI\u00a0calls', 'white space other than a space'],
    ['a NUL', 'Expenses\0', 'U+0000'],
    ['half of a surrogate pair', 'Expenses\ud800', 'an unpaired surrogate'],
    ['a semicolon', 'Expenses;AI', 'semicolon'],
    ['nothing', '', 'has to begin with a letter or a digit'],
    ['a parenthesis first', '(Expenses:AI)', 'has to begin with a letter or a digit'],
    ['a bracket first', '[Expenses:AI]', 'has to begin with a letter or a digit'],
    ['an angle bracket first', '<Expenses:AI>', 'has to begin with a letter or a digit'],
    ['a mark first', '* Expenses', 'has to begin with a letter or a digit'],
    ['a formula', '=1+1', 'has to begin with a letter or a digit'],
    ['a space first', ' Expenses', 'has to begin with a letter or a digit'],
    ['a space last', 'Expenses ', 'begins or ends with a space'],
    ['a part that begins with a space', 'Expenses: AI', 'begins or ends with a space'],
    ['an empty part', 'Expenses::AI', 'empty'],
    ['an empty part last', 'Expenses:', 'empty'],
    ['101 characters', 'e'.repeat(101), '100'],
  ])('are refused by name with %s', (_, name, said) => {
    for (const param of Object.keys(accountMembers))
      expect(() => parseRequest(JournalRequest, { [param]: name })).toThrow(
        expect.objectContaining({
          message: expect.stringContaining(said),
          extensions: expect.objectContaining({ code: 'invalid_request', param }),
        }),
      );
  });
});
