import { z } from 'zod';

/** Members of a body that prove possession of a book. They are checked before the other members. */
export const PossessionMembers = z.object({
  session: z
    .string()
    .optional()
    .describe('Secret that opens the book, also accepted as header X-SVC-Session.')
    .meta({ by_header: true }),
  proof: z
    .string()
    .optional()
    .describe(
      'Proof of possession of the book, in place of `session`: `sha256=<hex>`, an HMAC-SHA256 keyed by the session. Also accepted as header X-SVC-Proof, whose description in /openapi.json says what it covers.',
    )
    .meta({ by_header: true }),
});

/** A request without its members of possession. For a type with an index signature, `Omit` would lose the named members. */
export type WithoutPossession<T> = T extends unknown
  ? string extends keyof T
    ? T
    : Omit<T, keyof z.output<typeof PossessionMembers>>
  : never;
