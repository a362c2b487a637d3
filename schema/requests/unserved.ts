import { z } from 'zod';

/*
 * Members of OpenAI's API that would change the meaning of the answer are refused by name, never ignored silently. Absent, null and the
 * value of the usual behaviour are the same. Members that do not change the answer here are accepted with any value, passed on to no hub, and
 * not part of what a payment is bound to.
 */

type Literal = string | number | boolean;

export const PLAIN_TEXT = 'the answer is text';

export const unset = (why: string) => z.null(notServed(why)).optional().describe(`Not supported: ${why}.`);

export const only = <const V extends Literal>(why: string, ...values: readonly V[]) =>
  z
    .literal(values, notServed(why))
    .nullish()
    .describe(`Only ${values.join(', ')}: ${why}.`);

export const noItems = (why: string) =>
  z
    .array(z.unknown(), notServed(why))
    .max(0, notServed(why))
    .nullish()
    .describe(`Not supported, unless empty: ${why}.`);

export const noMembers = (why: string) =>
  z.strictObject({}, notServed(why)).nullish().describe(`Not supported, unless empty: ${why}.`);

/** The kinds of an answer that OpenAI lets a request choose. */
export const textModality = z
  .tuple([z.literal('text', notServed(PLAIN_TEXT))], notServed(PLAIN_TEXT))
  .nullish()
  .describe(`Only \`["text"]\`: ${PLAIN_TEXT}.`);

/** The usual service tier of OpenAI. */
export const usualTier = only('each call has the same price and the same speed', 'auto', 'default', 'standard');

function notServed(why: string) {
  return { error: `is not supported: ${why}` };
}

const NOBODY = 'hubs receive nothing that identifies the caller';
const NOTHING_KEPT = 'answers are not stored for later retrieval';
const THEIRS = 'this service decides about caches and speed';

/** Members that identify the caller, in a body or in an object within it. */
export const namesWhoAsks = {
  user: NOBODY,
  safety_identifier: NOBODY,
  metadata: NOTHING_KEPT,
  store: NOTHING_KEPT,
} as const;

/** These, and the members that name a cache. */
export const namesAndCaches = {
  ...namesWhoAsks,
  prompt_cache_key: THEIRS,
  prompt_cache_retention: THEIRS,
  prompt_cache_options: THEIRS,
} as const;

export const chatWithoutEffect = {
  ...namesAndCaches,
  prediction: 'it would only make the answer faster',
} as const;

export const responseWithoutEffect = {
  ...namesAndCaches,
  max_tool_calls: 'hubs run no tools of their own',
  stream_options: 'events are not padded',
} as const;

/** The same as members of a request, so that OpenAPI describes them. */
export function withoutEffect<T extends Readonly<Record<string, string>>>(table: T) {
  const members = Object.entries(table).map(([name, why]) => [
    name,
    z.unknown().optional().meta({ rest_only: true }).describe(`Without effect: ${why}.`),
  ]);
  return Object.fromEntries(members) as { readonly [M in keyof T]: z.ZodOptional<z.ZodUnknown> };
}
