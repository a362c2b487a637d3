import fc from 'fast-check';

const part = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .map(text =>
    text
      .replace(/[\p{Cc};:]|[^\S ]/gu, '')
      .replace(/ +/g, ' ')
      .trim(),
  )
  .filter(text => text !== '');

/** Any valid name of an account: letters of all scripts, symbols, and single spaces within its parts. */
export const accountName = fc
  .tuple(fc.constantFrom('Expenses', 'a', '1000', 'Größe', '経費'), fc.array(part, { maxLength: 4 }))
  .map(([first, parts]) => [first, ...parts].join(':'))
  .filter(name => name.isWellFormed() && name.length <= 100);
