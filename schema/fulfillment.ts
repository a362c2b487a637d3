import { z } from 'zod';
import { digestKindWords } from './escrow.ts';
import { jobKindWords } from './job-kind.ts';
import { type DocumentOf, HashMember, word } from './noun.ts';
import { commitmentMakers, commitmentStatuses } from './output-commitment.ts';

/* What was bought and delivered, as signed receipts and rows of books both tell it. What is signed has each null of it. */

export const OutputCommitmentNoun = z.object({
  status: word(commitmentStatuses).describe('Whether there is a hash that an output can be compared with.'),
  hash: HashMember.nullable().describe('Hash of the output, in lower-case hex. Null if nothing is committed to.'),
  kind: word(digestKindWords).nullable().describe('Hash function of `hash`. Null if there is no hash.'),
  omission_rule: z.string().nullable().describe('Reason why nothing is committed to. Null if there is a hash.'),
  by: word(commitmentMakers)
    .optional()
    .describe(
      'Who made the commitment. The issuer has seen the output only if this is `service`. No value if nothing is committed to, and under receipt policies 1 to 7.',
    ),
  covers: z
    .array(z.string())
    .optional()
    .describe(
      'Names of the members that the hash covers. No value if nothing is committed to, if the issuer has not seen the output, and under receipt policies 1 to 8.',
    ),
});
export type OutputCommitment = DocumentOf<typeof OutputCommitmentNoun>;

export const FulfillmentIntentNoun = z.object({
  job_kind: word(jobKindWords).describe('Kind of work that was paid for.'),
  resource: z.string().nullable().describe('URL at which it was bought. Null if that is not known.'),
  intent_id: z.string().nullable().describe('Id of the treasury intent that the call names. Null if it names none.'),
  attempt_index: z
    .int()
    .nullable()
    .describe('Number of the attempt within that intent, from 0. Null if the call names none.'),
});

export const FulfillmentAuthorizationNoun = z.object({
  payer_wallet: z.string().nullable().describe('Wallet that paid. Null if nothing was paid.'),
  delegation_hash: z
    .string()
    .nullable()
    .describe('Delegation hash of the session that the call was made under. Null if it was made under none.'),
  payment_ref: z.string().nullable().describe('`network:transaction` of the payment. Null if nothing was paid.'),
});

/** The paid-job envelope. */
export const FulfillmentNoun = z.object({
  intent: FulfillmentIntentNoun.describe('What the job was meant to be.'),
  authorization: FulfillmentAuthorizationNoun.describe('Who allowed the job, as far as that is known.'),
  output_commitment: OutputCommitmentNoun.describe('Commitment to what was delivered.'),
});
export type Fulfillment = DocumentOf<typeof FulfillmentNoun>;
