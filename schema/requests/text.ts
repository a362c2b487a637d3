import * as z from 'zod';

/* Rules for any text in a request. In a file of their own, so that verifiers can use them without the rest. */

/** Text that has a canonical form: RFC 8785 3.2.2.2 refuses a lone surrogate. */
export const wellFormedText = z
  .string()
  .refine(text => text.isWellFormed(), { error: 'is not valid Unicode: it contains an unpaired surrogate' });

/** Text that is stored in a column of its own: Postgres cannot store U+0000, and would fail only when a payment is claimed. */
export const storedText = wellFormedText.refine(text => !text.includes('\0'), { error: 'contains U+0000' });

/** Text for people: white space alone would be shown as nothing. */
export const visibleText = storedText.refine(text => /\S/u.test(text), { error: 'is blank' });
