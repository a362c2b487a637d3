import { z } from 'zod';

/*
 * Members of OpenAI's that would change what the answer means: refused by name, never dropped in silence. Absent, null and
 * what says no more than is done anyway are the same.
 */

type Literal = string | number | boolean;

export const NO_TOOLS = 'no tool is offered to the model';
export const PLAIN_TEXT = 'the answer is plain text';

export const unset = (why: string) => z.null(notServed(why)).optional();

export const only = <const V extends Literal>(why: string, ...values: readonly V[]) =>
  z.literal(values, notServed(why)).nullish();

export const noItems = (why: string) => z.tuple([], notServed(why)).nullish();

/** As which OpenAI has an answer asked for, in two spellings. */
export const textFormat = z.object({ type: z.literal('text', notServed(PLAIN_TEXT)) }).nullish();
export const textModality = z.tuple([z.literal('text', notServed(PLAIN_TEXT))], notServed(PLAIN_TEXT)).nullish();

export const unservedTools = {
  tools: noItems(NO_TOOLS),
  tool_choice: only(NO_TOOLS, 'none', 'auto'),
} as const;

function notServed(why: string) {
  return { error: `is not served here: ${why}` };
}
