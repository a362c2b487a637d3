import { z } from 'zod';
import { documents } from '../../schema/documents.ts';
import { FulfillmentNoun } from '../../schema/fulfillment.ts';
import { limits } from '../../schema/limits.ts';
import type { ReceiptMemberName, receiptMembers } from '../../schema/receipt-facts.ts';
import { proofOutcomes, settledByWords, waivers } from '../../schema/receipt-payload.ts';
import {
  AnsweredAgainNoun,
  CallerBindingNoun,
  ChainBindingNoun,
  IssuerHistoryReferenceNoun,
  LocalCheckNoun,
  PolicyReferenceNoun,
  ReportedNoun,
  ReportedPartiesNoun,
  SignedLegNoun,
  SignedPaymentNoun,
  ToleranceNoun,
  TransferFactsNoun,
} from '../../schema/receipt-shapes.ts';
import { wordList } from '../../schema/words.ts';
import { Atomic, JsonMembers, nameComponents } from '../answer-shapes.ts';

/** Left out where the call was paid under no session, and the last two of all but what was handed on. */
const sessionMembers = {
  delegation_hash: z.string().optional().describe('The delegated session that it was paid under, or done in.'),
  valid_after: z.int().optional().describe('From when on that serves, Unix seconds: iat is not before it.'),
  session_expiry: z.int().optional().describe('When it ends, Unix seconds: iat is not after it.'),
  parent_receipt_id: z.string().optional().describe('Of which receipt this one was made, for another agent.'),
  target_agent: z.int().optional().describe('Which agent may redeem it.'),
};

/* A signed receipt, as doors show it: what is signed, and the document around it. */

export const Hash = z.string().regex(/^[0-9a-f]{64}$/);

const ObservedTransfer = TransferFactsNoun.describe('Of payload version 4: the transfer as its chain has it.');
const Legs = z
  .array(SignedLegNoun)
  .describe('Where it was paid for in two: to whom it was owed, which is `payment`, and the fee of this service.');
const PayerProven = z.boolean().describe('Whether its payer is known to be the agent of the book.');

const LocalCheck = LocalCheckNoun.describe(
  'A transfer of USDC on Base that a stranger can look for; it does not claim that it took place.',
);

const SettledBy = z.enum(wordList(settledByWords));
const waived_by = z.enum(wordList(waivers)).describe('Kind of API key that was used in place of a payment.');
const reported = ReportedNoun.describe(
  'Of a generation or a completion that others answered. This service did not settle it, and took no payment for it.',
);
const reported_parties = ReportedPartiesNoun.describe(
  'Payer and payee of a reported completion, as they were reported. Signed from receipt policy 8 on.',
);
const answered = {
  answered_model: z
    .string()
    .optional()
    .describe('Model that the hub named in its answer. Left out if it named none, and under receipt policies 1 to 8.'),
  answered_catalogue_model: z
    .string()
    .optional()
    .describe(
      "Id of the hub's catalogue that answered_model names, by its configuration when this was signed: `model` if answered_model is a configured alias of it, or the id of another model. Left out if it names none, and if it is `model` or a version of it.",
    ),
} as const;
const vendor_blind = z
  .literal(true)
  .describe(
    'This service added nothing that says who asks. What the caller wrote for the model was put into the form that the hub takes; members without effect were left out. Text of the caller that names the caller reached the hub.',
  );

export const IssuerSignature = z.object({
  jws: z.string().describe('ES256, compact; its claims are the payload and its place in the log.'),
  kid: z.string(),
  value: z.string(),
  alg: z.literal('ES256'),
});

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
    caller_binding: CallerBindingNoun,
    fulfillment: FulfillmentNoun,
    tolerance: ToleranceNoun,
    issuer_history: IssuerHistoryReferenceNoun,
    receipt_policy: PolicyReferenceNoun,
    claim_id: z.int().optional().describe('The agent on whose book the row stands.'),
    book_id: z
      .int()
      .optional()
      .describe('Of payload version 4 alone, as payment_ref: a lane without a payment of ours.'),
    payment_ref: z.string().optional(),
    observed_transfer: ObservedTransfer.optional(),
    payer_proven: PayerProven.optional(),
    payment: SignedPaymentNoun.optional(),
    legs: Legs.optional(),
    settlement_basis: SettledBy.optional().describe('Whether the issuer had seen the transfer as it signed.'),
    settled_by: SettledBy.optional().describe('The same, where it was signed before receipt policy 4.'),
    waived_by: waived_by.optional(),
    reported: reported.optional(),
    reported_parties: reported_parties.optional(),
    ...sessionMembers,
    intent_id: z.string().optional(),
    attempt_index: z.int().optional(),
    ...answered,
    vendor_blind: vendor_blind.optional(),
    provider_cogs: z
      .object({ actual: z.int().min(0), usd_mark: z.int().min(0) })
      .optional()
      .describe(
        "Atomic USDC. `actual`: cost by the hub's token counts; `usd_mark`: the hub's price per call. If only one is known, both have it; absent if neither is.",
      ),
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
  proof_outcome: z
    .enum(wordList(proofOutcomes))
    .describe('May still change, as may settled_by, ingress_receipt, omission_rule.'),
  hub: z.string(),
  model: z.string(),
  amount: Atomic.optional().describe('Atomic units of the rail: USDC, but of a book chain on Nano.'),
  payer_wallet: z
    .string()
    .optional()
    .describe('Who paid this service; of a payment to somebody else see `observed_transfer`.'),
  payload_version: z.int(),
  payload: PayloadAnswer,
  payload_hash: Hash,
  leaf_index: z.int(),
  tree_size: z.int(),
  log_id: z.int(),
  root_hash: Hash,
  tree_head_hash: Hash,
  book_seq: z.int().optional().describe('Of its row on the book.'),
  caller_binding: CallerBindingNoun,
  ...sessionMembers,
  claim_id: z.int().optional(),
  book_id: z
    .int()
    .optional()
    .describe('Of a lane without a payment of ours (payload version 4): signed beside payment_ref.'),
  observed_transfer: ObservedTransfer.optional(),
  payer_proven: PayerProven.optional(),
  legs: Legs.optional(),
  issuer_signature: IssuerSignature,
  signature: z.object({ alg: z.literal('Ed25519'), kid: z.string(), value: z.string() }),
  co_signature: z.object({ alg: z.literal('secp256k1-eip191'), address: z.string(), value: z.string() }),
  settled_by: SettledBy.nullable().describe('Whether the issuer has seen the transfer; null where nothing was paid.'),
  waived_by: waived_by.optional(),
  reported: reported.optional(),
  ...answered,
  vendor_blind: vendor_blind.optional(),
  ingress_receipt: JsonMembers.optional(),
  omission_rule: z.string().optional(),
  answered_again: AnsweredAgainNoun.optional().describe(
    'The whole answer that the same payment brought later. Unsigned; on a book, a correction event commits to it.',
  ),
  anchor_changed_since_binding: z.boolean().describe('Whether the log has a later head than the one that it signs.'),
  freeze: z.boolean().describe('A settlement on a book that the issuer vouches for, unsettled as the log went on.'),
  unverifiable_from_registry: z
    .boolean()
    .describe('Looked for until the cutoff, and nothing is known of it; that does not mean unpaid.'),
  local_check: LocalCheck.optional(),
  binding: ChainBindingNoun.describe('No proof system is used here: `in_proof` is false.'),
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
  rerun: z
    .int()
    .min(1)
    .max(limits.reruns_max)
    .optional()
    .describe('Which time the work of this payment was done once more, in an answer that came of it.'),
});

nameComponents({
  ReceiptPayload: PayloadAnswer,
  ReceiptReported: reported,
  Receipt: ReceiptAnswer,
  ReceiptInAnswer: SvcAnswer,
});
