import { z } from 'zod';

/*
 * Members of OpenAI's API that would change the meaning of the answer are refused by name, never ignored silently. Absent, null and the
 * default value are the same. Members that do not change the answer here are accepted with any value, passed on to no hub, and not part of
 * what a payment is bound to.
 */

type Literal = string | number | boolean;

export const PLAIN_TEXT = 'the answer is text';

export const unset = (why: string) => z.null(notServed(why)).optional().describe(`Accepts only null: ${why}.`);

export const only = <const V extends Literal>(why: string, ...values: readonly V[]) =>
  z
    .literal(values, notServed(why))
    .nullish()
    .describe(`Accepts only ${values.map(value => `\`${value}\``).join(', ')} or null: ${why}.`);

export const noItems = (why: string) =>
  z
    .array(z.unknown(), notServed(why))
    .max(0, notServed(why))
    .nullish()
    .describe(`Accepts only an empty list or null: ${why}.`);

export const noMembers = (why: string) =>
  z.strictObject({}, notServed(why)).nullish().describe(`Accepts only an empty object or null: ${why}.`);

/** Kinds of answer that a request to OpenAI may choose. */
export const textModality = z
  .tuple([z.literal('text', notServed(PLAIN_TEXT))], notServed(PLAIN_TEXT))
  .nullish()
  .describe(`Accepts only \`["text"]\` or null: ${PLAIN_TEXT}.`);

/** OpenAI's default service tier. */
export const usualTier = only('each call has the same price and the same speed', 'auto', 'default', 'standard');

function notServed(why: string) {
  return { error: `is not supported: ${why}` };
}

const NO_IDENTITY = 'hubs receive nothing that identifies the caller';
const NOTHING_KEPT = 'answers are not stored for later retrieval';
const THEIRS = 'this service decides about caches and speed';

/** Members that identify the caller, in a body or in an object within it. */
export const callerIdentifiers = {
  user: NO_IDENTITY,
  safety_identifier: NO_IDENTITY,
  metadata: NOTHING_KEPT,
  store: NOTHING_KEPT,
} as const;

/** Members that identify the caller, and members that name a cache. */
export const identifiersAndCaches = {
  ...callerIdentifiers,
  prompt_cache_key: THEIRS,
  prompt_cache_retention: THEIRS,
  prompt_cache_options: THEIRS,
} as const;

export const chatWithoutEffect = {
  ...identifiersAndCaches,
  prediction: 'it would only make the answer faster',
} as const;

export const responseWithoutEffect = {
  ...identifiersAndCaches,
  max_tool_calls: 'hubs run no tools of their own',
  stream_options: 'events are not padded',
} as const;

/** The same members as schemas, so that OpenAPI describes them. */
export function withoutEffect<T extends Readonly<Record<string, string>>>(table: T) {
  const members = Object.entries(table).map(([name, why]) => [
    name,
    z.unknown().optional().meta({ rest_only: true }).describe(`Without effect: ${why}.`),
  ]);
  return Object.fromEntries(members) as { readonly [M in keyof T]: z.ZodOptional<z.ZodUnknown> };
}
