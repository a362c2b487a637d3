import { z } from 'zod';

/** Members of a body that prove possession of a book. They are checked before the other members. */
export const PossessionMembers = z.object({
  session: z
    .string()
    .optional()
    .describe('Possession secret of the book. Accepted as header X-SVC-Session too.')
    .meta({ by_header: true }),
  proof: z
    .string()
    .optional()
    .describe(
      'Proof of possession, `sha256=<hex>`. Accepted as header X-SVC-Proof too, whose description explains both forms.',
    )
    .meta({ by_header: true }),
});

/** A request without its members of possession. For a type with an index signature, `Omit` would lose the named members. */
export type WithoutPossession<T> = T extends unknown
  ? string extends keyof T
    ? T
    : Omit<T, keyof z.output<typeof PossessionMembers>>
  : never;
