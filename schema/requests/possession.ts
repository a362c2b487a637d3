import { z } from 'zod';

/** How a body shows possession of a book; looked at before anything else in it. */
export const PossessionMembers = z.object({
  session: z.string().optional().describe('Possession secret; also header X-SVC-Session.').meta({ by_header: true }),
  proof: z
    .string()
    .optional()
    .describe('`sha256=<hex>`; also header X-SVC-Proof, where both forms are described.')
    .meta({ by_header: true }),
});

/** What a request says, but for what shows possession. Of one that may have members of any name, `Omit` would lose those that it names. */
export type WithoutPossession<T> = T extends unknown
  ? string extends keyof T
    ? T
    : Omit<T, keyof z.output<typeof PossessionMembers>>
  : never;
