import { z } from 'zod';
import { verifierKey } from '../../subgraphs/receipt/verify/verifier-key.ts';
import { placeUrl, withoutSlash } from './forms.ts';

/** Who vouches for the log's checkpoints (https://c2sp.org/tlog-witness). */
export const witness = z.strictObject({
  url: placeUrl().transform(withoutSlash).describe('where it takes them: `/add-checkpoint` below it'),
  key: z
    .string()
    .refine(text => verifierKey(text)?.kind === 'cosignature', 'not the verifier key of a witness: <name>+<id>+<key>')
    .describe('by which its cosignatures are believed'),
});

/** A note of more signatures than this is read by few. */
export const WITNESSES_MAX = 12;

export type WitnessConfig = z.infer<typeof witness>;
