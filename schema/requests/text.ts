import * as z from 'zod';

/* What any text of a request has to be. Apart from what refuses requests, so that verifiers can use it without the rest. */

/** Text that has a canonical form: RFC 8785 3.2.2.2 refuses half of a surrogate pair. */
export const wellFormedText = z
  .string()
  .refine(text => text.isWellFormed(), { error: 'contains an unpaired surrogate' });

/** Text that is written to a column of its own: Postgres holds no U+0000, and would fail only when money is claimed. */
export const storedText = wellFormedText.refine(text => !text.includes('\0'), { error: 'contains U+0000' });

/** Text that people are to read: of white space alone it would be shown as nothing. */
export const saidText = storedText.refine(text => /\S/u.test(text), { error: 'is blank' });
