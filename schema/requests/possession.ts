import { z } from 'zod';

/** Members of a body that prove possession of a book. They are checked before the other members. */
export const PossessionMembers = z.object({
  session: z
    .string()
    .optional()
    .describe(
      'Secret that proves possession of the book. Send either this or `proof`, here or as header X-SVC-Session.',
    )
    .meta({ by_header: true }),
  proof: z
    .string()
    .optional()
    .describe(
      'Proof of possession of the book, `sha256=<hex>`, in place of `session`. Also accepted as header X-SVC-Proof, which describes both forms.',
    )
    .meta({ by_header: true }),
});

/** A request without its members of possession. For a type with an index signature, `Omit` would lose the named members. */
export type WithoutPossession<T> = T extends unknown
  ? string extends keyof T
    ? T
    : Omit<T, keyof z.output<typeof PossessionMembers>>
  : never;
