import { z } from 'zod';
import { documents } from '../../schema/documents.ts';
import type { ReceiptMemberName, receiptMembers } from '../../schema/receipt-facts.ts';
import { proofOutcomes, waivers } from '../../schema/receipt-payload.ts';
import { Atomic, JsonMembers, nameComponents } from '../answer-shapes.ts';

/* A signed receipt, as doors show it: what is signed, and the document around it. */

export const Hash = z.string().regex(/^[0-9a-f]{64}$/);

const CallerBinding = z.object({
  payer_wallet: z.string().optional(),
  agent_pubkey: z.string().optional(),
  api_key_hash: Hash.optional(),
});

const Payment = z.object({
  ref: z.string().describe('`base:0x<transaction hash>` or `solana:<signature>`.'),
  transfer_index: z.int().nullable().describe('Of the Transfer in its block; null where it was not looked at.'),
  network: z.string(),
  rail: z.literal('usdc'),
  asset: z.string(),
  gross_amount: Atomic,
  settled_amount: Atomic,
  payer: z.string(),
  pay_to: z.string(),
  payment_id: z.string(),
});

const Fulfillment = z.object({
  intent: z.object({
    job_kind: z.string(),
    resource: z.string().nullable(),
    intent_id: z.string().nullable(),
    attempt_index: z.int().nullable(),
  }),
  authorization: z.object({
    payer_wallet: z.string().nullable(),
    delegation_hash: z.string().nullable(),
    payment_ref: z.string().nullable(),
  }),
  output_commitment: z.object({
    status: z.enum(['committed', 'UNVERIFIED']),
    hash: Hash.nullable(),
    kind: z.enum(['sha256', 'keccak256']).nullable(),
    omission_rule: z.string().nullable(),
  }),
});

const SettledBy = z.enum(['observed_transfer', 'receipt']);
const waived_by = z.enum(waivers).describe('The kind of key that stood in for a payment.');
const vendor_blind = z.literal(true).describe('Whoever answered learned nothing of who asked.');

/** What does not apply is left out. */
export const PayloadAnswer = z
  .object({
    schema: z.literal(documents.receipt),
    payload_version: z.int(),
    task_id: z.string(),
    issued_at: z.string(),
    hub: z.string(),
    model: z.string(),
    job_kind: z.string(),
    request_hash: Hash.describe('Of the request and the salt in x-svc-request-salt.'),
    caller_binding: CallerBinding,
    fulfillment: Fulfillment,
    tolerance: z.object({ amount_atomic: Atomic, clock_seconds: z.int() }),
    issuer_history: z.object({ hash: Hash, version: z.int(), seq: z.int() }),
    receipt_policy: z.object({ hash: Hash, version: z.int() }),
    claim_id: z.int().optional().describe('The agent on whose book the row stands.'),
    payment: Payment.optional(),
    settlement_basis: SettledBy.optional().describe('Whether the issuer had seen the transfer as it signed.'),
    settled_by: SettledBy.optional().describe('The same, where it was signed before receipt policy 4.'),
    waived_by: waived_by.optional(),
    intent_id: z.string().optional(),
    attempt_index: z.int().optional(),
    vendor_blind: vendor_blind.optional(),
    provider_cogs: z
      .object({ actual: z.int().min(0), usd_mark: z.int().min(0) })
      .optional()
      .describe('Atomic USDC: what the work has cost, and the price of a call; left out where no price is known.'),
    profile: z.literal('development').optional(),
  })
  .describe('What is signed and stands in the log: SHA-256 of its canonical JSON (RFC 8785) is payload_hash.');

type Shown = Exclude<ReceiptMemberName, HiddenMember>;
type HiddenMember = {
  [K in ReceiptMemberName]: (typeof receiptMembers)[K] extends { readonly hidden: true } ? K : never;
}[ReceiptMemberName];

const members = {
  task_id: z.string(),
  verify_url: z.string().describe('Public receipt page.'),
  proof_outcome: z.enum(proofOutcomes).describe('May still change, as may settled_by, ingress_receipt, omission_rule.'),
  hub: z.string(),
  model: z.string(),
  amount: Atomic.optional(),
  payer_wallet: z.string().optional(),
  payload_version: z.int(),
  payload: PayloadAnswer,
  payload_hash: Hash,
  leaf_index: z.int(),
  tree_size: z.int(),
  log_id: z.int(),
  root_hash: Hash,
  tree_head_hash: Hash,
  book_seq: z.int().optional().describe('Of its row on the book.'),
  caller_binding: CallerBinding,
  claim_id: z.int().optional(),
  issuer_signature: z.object({
    jws: z.string().describe('ES256, compact; its claims are the payload and its place in the log.'),
    kid: z.string(),
    value: z.string(),
    alg: z.literal('ES256'),
  }),
  signature: z.object({ alg: z.literal('Ed25519'), kid: z.string(), value: z.string() }),
  co_signature: z.object({ alg: z.literal('secp256k1-eip191'), address: z.string(), value: z.string() }),
  settled_by: SettledBy.nullable().describe('Whether the issuer has seen the transfer; null where nothing was paid.'),
  waived_by: waived_by.optional(),
  vendor_blind: vendor_blind.optional(),
  ingress_receipt: JsonMembers.optional(),
  omission_rule: z.string().optional(),
  verification: z.object({
    jwks_uri: z.string(),
    issuer_history_uri: z.string(),
    receipt_policy_uri: z.string(),
    preimage_uri: z.string(),
    how: z.string(),
  }),
  profile: z.enum(['development', 'production']),
  chain_ended: z.literal(true).optional().describe('In development: the chain that carried the payment is gone.'),
  payment_ref: z.string().nullable().describe('Null where nothing was paid.'),
} as const satisfies Record<Shown, z.ZodType>;

/** GET /receipt/{task_id}. */
export const ReceiptAnswer = z.object(members);

/** The same in the answer that was paid for. */
export const SvcAnswer = z.object({
  ...members,
  settlement_status: z.enum(['settled', 'idempotent_replay', 'waived']),
});

nameComponents({ ReceiptPayload: PayloadAnswer, Receipt: ReceiptAnswer, ReceiptInAnswer: SvcAnswer });
