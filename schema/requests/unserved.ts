import { z } from 'zod';

/*
 * Members of OpenAI's that would change what the answer means: refused by name, never dropped in silence. Absent, null and
 * what says no more than is done anyway are the same.
 */

type Literal = string | number | boolean;

export const PLAIN_TEXT = 'the answer is text';

export const unset = (why: string) => z.null(notServed(why)).optional();

export const only = <const V extends Literal>(why: string, ...values: readonly V[]) =>
  z.literal(values, notServed(why)).nullish();

export const noItems = (why: string) => z.array(z.unknown(), notServed(why)).max(0, notServed(why)).nullish();

export const noMembers = (why: string) => z.strictObject({}, notServed(why)).nullish();

/** As which OpenAI has an answer asked for. */
export const textModality = z.tuple([z.literal('text', notServed(PLAIN_TEXT))], notServed(PLAIN_TEXT)).nullish();

function notServed(why: string) {
  return { error: `is not served here: ${why}` };
}
