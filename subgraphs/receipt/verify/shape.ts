import { z } from 'zod';
import { proofOutcomes } from '../../../schema/receipt-payload.ts';

const text = z.string();
const seconds = z.int();

/**
 * The types of what the rules reckon with. A comparison never converts: `true` is not 1, and a list of one text is not
 * that text, or a document that nobody issued would pass for the one that was signed.
 */
export const ClaimShape = z.looseObject({
  iss: text,
  iat: seconds.optional(),
  jti: text,
  task_id: text.optional(),
  payload_hash: text.optional(),
  tree_head_hash: text.optional(),
  tree_size: z.int().min(1).optional(),
  leaf_index: z.int().min(0).optional(),
  book_seq: z.int().min(1).optional(),
  claim_id: z.int().nullish(),
  valid_after: seconds.optional(),
  session_expiry: seconds.optional(),
  payment: z.looseObject({ ref: text.nullish(), gross_amount: text.optional() }).optional(),
  caller_binding: z.looseObject({}).optional(),
  vendor_blind: z.literal(true).optional(),
  provider_cogs: z.looseObject({ actual: z.int().min(0), usd_mark: z.int().min(0) }).optional(),
});

/** What may stand beside the signed facts, each in its form. Whether it is true is another question. */
export const BesideShape = z.looseObject({
  settlement_status: z.enum(['settled', 'idempotent_replay', 'waived']).optional(),
  proof_outcome: z.enum(proofOutcomes).optional(),
  settled_by: z.enum(['observed_transfer', 'receipt']).nullish(),
  ingress_receipt: z.object({ ref: text, confirmed_at: z.iso.datetime() }).optional(),
  omission_rule: text.optional(),
  chain_ended: z.literal(true).optional(),
  profile: z.enum(['development', 'production']).optional(),
  issuer_signature: z.looseObject({}),
  signature: z.looseObject({}).optional(),
  co_signature: z.looseObject({}).optional(),
  verification: z
    .looseObject({
      jwks_uri: text.optional(),
      issuer_history_uri: text.optional(),
      receipt_policy_uri: text.optional(),
      preimage_uri: text.optional(),
      how: text.optional(),
    })
    .optional(),
});

/** The first member that is of another type; null where none is. */
export function misshapen(shape: z.ZodType, value: unknown): string | null {
  const { error } = shape.safeParse(value);
  return error ? error.issues[0]?.path.join('.') || 'it' : null;
}
