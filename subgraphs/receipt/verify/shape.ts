import * as z from 'zod';
import { proofOutcomes } from '../../../schema/receipt-payload.ts';
import { wordList } from '../../../schema/words.ts';

const text = z.string();
const seconds = z.int();
/** An amount in atomic units. */
const digits = text.regex(/^\d{1,78}$/);
const versioned = z.looseObject({ hash: text, version: z.int().min(1) });

/**
 * The types of the claims that the rules rely on. A comparison never converts values: `true` is not 1, and a list of one text is not that
 * text. Otherwise an altered document could pass for the signed one.
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
  book_id: z.int().min(1).optional(),
  payment_ref: text.min(1).optional(),
  observed_transfer: z
    .looseObject({ network: text, transaction: text, index: z.int().min(0).nullable(), amount: digits })
    .optional(),
  payer_proven: z.boolean().optional(),
  payment: z
    .looseObject({ ref: text.nullish(), gross_amount: digits.optional(), settled_amount: digits.optional() })
    .optional(),
  legs: z
    .array(
      z.strictObject({
        leg: z.enum(['payee', 'fee']),
        ref: text.min(1),
        transfer_index: z.int().min(0).nullable(),
        network: text.min(1),
        asset: text.min(1),
        payer: text.min(1),
        pay_to: text.min(1),
        amount: digits,
      }),
    )
    .length(2)
    .optional(),
  tolerance: z.looseObject({ amount_atomic: digits, clock_seconds: z.int().min(0) }).optional(),
  issuer_history: versioned.extend({ seq: z.int().min(1) }).optional(),
  receipt_policy: versioned.optional(),
  delegation_hash: text.optional(),
  parent_receipt_id: text.optional(),
  target_agent: z.int().min(1).optional(),
  caller_binding: z
    .looseObject({ payer_wallet: text.optional(), agent_pubkey: text.optional(), api_key_hash: text.optional() })
    .optional(),
  reported: z
    .strictObject({
      by: text.min(1),
      generation_id: text.min(1),
      rail: text.min(1),
      amount: digits,
      payment_ref: text.min(1).optional(),
      verified_with: text.min(1).optional(),
    })
    .optional(),
  reported_parties: z.looseObject({ payer: text.min(1), payee: text.min(1), verified: z.boolean() }).optional(),
  answered_model: text.min(1).optional(),
  answered_catalogue_model: text.min(1).optional(),
  vendor_blind: z.literal(true).optional(),
  provider_cogs: z.looseObject({ actual: z.int().min(0), usd_mark: z.int().min(0) }).optional(),
});

/** The types of the members beside the signed facts. Whether these members are true is not checked here. */
export const BesideShape = z.looseObject({
  settlement_status: z.enum(['settled', 'idempotent_replay', 'waived']).optional(),
  proof_outcome: z.enum(wordList(proofOutcomes)).optional(),
  settled_by: z.enum(['observed_transfer', 'receipt']).nullish(),
  ingress_receipt: z.object({ ref: text, confirmed_at: z.iso.datetime() }).optional(),
  omission_rule: text.optional(),
  answered_again: z
    .object({
      at: z.iso.datetime(),
      output_sha256: text.nullable(),
      rerun: z.int().min(1),
      hub: text,
      model: text,
      answered_model: text.nullable(),
      answered_catalogue_model: text.nullable(),
    })
    .optional(),
  rerun: z.int().min(1).optional(),
  anchor_changed_since_binding: z.boolean().optional(),
  freeze: z.boolean().optional(),
  unverifiable_from_registry: z.boolean().optional(),
  local_check: z.object({ network: text, chain: text, asset: text, payee: text, amount: text }).optional(),
  binding: z.object({ in_proof: z.boolean() }).optional(),
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

/** Path of the first member with the wrong type (`it` if that is the value itself); null if all types are right. */
export function misshapen(shape: z.ZodType, value: unknown): string | null {
  const { error } = shape.safeParse(value);
  return error ? error.issues[0]?.path.join('.') || 'it' : null;
}
