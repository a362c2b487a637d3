import { z } from 'zod';
import { documents } from './documents.ts';
import { digestKindWords } from './escrow.ts';
import { jobKindWords } from './job-kind.ts';
import { limits } from './limits.ts';
import { networkWords } from './network.ts';
import {
  AtomicMember,
  type DocumentOf,
  HashMember,
  JsonMember,
  MomentMember,
  onGraph,
  sizedList,
  TimeMember,
  word,
  wordText,
} from './noun.ts';
import type { ReceiptMemberName, receiptMembers } from './receipt-facts.ts';
import { commitmentMakers, commitmentStatuses, proofOutcomes, settledByWords, waivers } from './receipt-payload.ts';
import { settlementStatuses } from './settlement-status.ts';

/* A signed receipt: its payload, member by member, the public document around the payload, and pages of receipts. */

const Network = wordText(networkWords).describe('Network of the payment.');
const TransferIndex = z
  .int()
  .nullable()
  .describe(
    'Index of the transfer, from 0: of its log in the block on Base, of its instruction in the transaction on Solana. Null on Nano, and if the transfer had not been seen when this was signed.',
  );
const CostMember = z.int().min(0).meta({ scalar: 'AtomicAmount' });
const Asset = z.string().describe('Address of the token: its contract on Base, its mint on Solana.');
const Payer = z.string().describe('Wallet that paid.');
const PayTo = z.string().describe('Wallet that was paid.');

/** What is known of a caller. A member that is not known is left out. */
export const CallerBindingNoun = z.object({
  payer_wallet: z
    .string()
    .optional()
    .describe('Address of the wallet that paid this service. Null or absent if this service was not paid.'),
  agent_pubkey: z
    .string()
    .optional()
    .describe(
      'Public key of the delegated session that the request was made under (secp256k1, 0x and hex). Null or absent if it was made under none, or if the session was ending when this was signed.',
    ),
  api_key_hash: HashMember.optional().describe(
    'SHA-256 (hex) of the API key that was used in place of a payment. Null or absent if none was used.',
  ),
});

export const SignedPaymentNoun = z.object({
  ref: z.string().describe('Transaction of the payment: `base:0x<transaction hash>` or `solana:<signature>`.'),
  transfer_index: TransferIndex,
  network: Network,
  rail: z.literal('usdc').describe('Rail of the payment. Always `usdc`.'),
  asset: Asset,
  gross_amount: AtomicMember.describe('Amount that the payer sent, in atomic USDC.'),
  settled_amount: AtomicMember.describe('Amount that the payee received, in atomic USDC.'),
  payer: Payer,
  pay_to: PayTo,
  payment_id: z
    .string()
    .describe(
      'Id of the payment: EIP-3009 nonce (Base, 0x and 64 hex digits) or SHA-256 of the transaction message (Solana, 64 hex digits).',
    ),
});

export const SignedLegNoun = z.object({
  leg: z
    .enum(['payee', 'fee'])
    .describe('`payee`: payment to the party that was owed the amount. `fee`: payment to this service.'),
  ref: z.string().describe('This payment as `network:transaction`, such as `base:0x…`.'),
  transfer_index: TransferIndex,
  network: Network,
  asset: Asset,
  payer: Payer,
  pay_to: PayTo,
  amount: AtomicMember.describe('Amount that the payee received, in atomic USDC.'),
});

/** Transfer as its chain shows it, in a lane without a payment to this service. */
export const TransferFactsNoun = z.object({
  network: z.string().describe('Network of the transfer: `base`, `solana` or `nano`.'),
  rail: z.string().describe('Rail of the transfer: `usdc` or `xno`.'),
  asset: z.string().describe('Contract (Base) or mint (Solana) of the token, or `XNO`.'),
  transaction: z
    .string()
    .describe('Hash (Base) or signature (Solana) of the transaction, or hash of the block (Nano).'),
  index: z
    .int()
    .nullable()
    .describe(
      'Index of the transfer, from 0: of its log in the block on Base, of its instruction in the transaction on Solana. Null on Nano, and if the transfer had not been seen when this was signed.',
    ),
  payer: Payer,
  pay_to: PayTo,
  amount: AtomicMember.describe('Amount in atomic units of the rail: USDC has 6 decimals, XNO has 30.'),
});

/** A generation of a router or a completion, as it was reported. */
export const ReportedNoun = z
  .object({
    by: z
      .string()
      .describe(
        'Id of the router book with whose key a generation was reported, or `inbound:` and the source of a completion.',
      ),
    generation_id: z.string().describe('Id of the generation or the completion at its source.'),
    rail: z.string().describe('Rail of the payment, as reported, such as `credits` or `usdc`.'),
    amount: AtomicMember.describe('Reported cost, in millionths of a dollar.'),
    payment_ref: z
      .string()
      .optional()
      .describe('Reference of the payment, as reported. It proves nothing. Null or absent if none was reported.'),
    verified_with: z
      .string()
      .optional()
      .describe(
        'Name of the router that confirmed the generation before this was signed, or of the network that showed the payment. Null or absent if neither did.',
      ),
  })
  .describe(
    'What was reported of a generation or a completion that others answered. This service did not settle it, and took no payment for it. Null or absent for any other receipt.',
  );

export const ReportedPartiesNoun = z.object({
  payer: z.string().describe('Wallet that is reported to have paid.'),
  payee: z.string().describe('Wallet that is reported to have been paid.'),
  verified: z
    .boolean()
    .describe(
      'True if the chain had shown a transfer between these wallets before this was signed. False if both wallets are known from the reporter alone.',
    ),
});

export const ToleranceNoun = z.object({
  amount_atomic: AtomicMember.describe('Largest accepted difference between settled and gross amount, in atomic USDC.'),
  clock_seconds: z
    .int()
    .describe("Largest accepted difference between a verifier's clock and the signed times, in seconds."),
});

export const IssuerHistoryReferenceNoun = z.object({
  hash: HashMember.describe('SHA-256 of the snapshot, in hex.'),
  version: z.int().describe('Number of the snapshot, from 1.'),
  seq: z.int().describe('Number (`seq`) of the key that signed, within the snapshot.'),
});

export const PolicyReferenceNoun = z.object({
  hash: HashMember.describe('SHA-256 of the canonical JSON (RFC 8785) of the receipt policy, in hex.'),
  version: z.int().describe('Number of the receipt policy, from 1.'),
});

/** Cost of the work to the issuer by token counts, and by the price of a call, in the unit of `payment.gross_amount`. */
export const ProviderCogsNoun = z.object({
  actual: CostMember.describe(
    'Cost of the call to this service, by the token counts of the hub, in atomic USDC. Equals `usd_mark` if the counts or their prices are not known. 0 for an accepted task or a forecast, because no hub was called.',
  ),
  usd_mark: CostMember.describe(
    'Cost of the call to this service, by the price per call of the hub, in atomic USDC. Equals `actual` if that price is not known.',
  ),
});

/** A transfer that a stranger can look for. */
export const LocalCheckNoun = z.object({
  network: z.literal('base').describe('Always `base`.'),
  chain: z.string().describe('CAIP-2 id of the chain, such as `eip155:8453`.'),
  asset: Asset,
  payee: z.string().describe('Address of the wallet that the transfer pays.'),
  amount: AtomicMember.describe('Amount in atomic USDC.'),
});

export const ChainBindingNoun = z.object({
  in_proof: z.boolean().describe('True if a proof system on the chain has checked the commitment. Always false here.'),
});

/** The whole answer that a payment brought later, where the answer of its receipt broke off. */
export const AnsweredAgainNoun = z.object({
  at: MomentMember.describe('Time of this later answer (RFC 3339, UTC).'),
  output_sha256: z
    .string()
    .nullable()
    .describe(
      'SHA-256 (hex) of the output, by the rule of the receipt policy. Null if the answer has no output, such as that of a task that asks its caller for input.',
    ),
  rerun: z.int().min(1).max(limits.reruns_max).describe('Number of the rerun that returned this answer, from 1.'),
  hub: z.string().describe('Hub that returned this answer. The signed `hub` is that of the first attempt.'),
  model: z.string().describe('Model that was requested from this hub.'),
  answered_model: z.string().nullable().describe('Model that this hub named in its answer. Null if it named none.'),
  answered_catalogue_model: z
    .string()
    .nullable()
    .describe(
      "Id in the hub's catalogue that `answered_model` of this answer names, by the rule of `answered_catalogue_model` of the receipt. Null if the rule yields none.",
    ),
});

export const OutputCommitmentNoun = z.object({
  status: word(commitmentStatuses).describe('Whether there is a hash that an output can be compared with.'),
  hash: HashMember.nullable().describe('Hash of the output, in lower-case hex. Null if nothing is committed to.'),
  kind: word(digestKindWords).nullable().describe('Hash function of `hash`. Null if there is no hash.'),
  omission_rule: z.string().nullable().describe('Reason why nothing is committed to. Null if there is a hash.'),
  by: word(commitmentMakers)
    .optional()
    .describe(
      'Who made the commitment. The issuer has seen the output only if this is `service`. Null or absent if nothing is committed to, and under receipt policies 1 to 7.',
    ),
  covers: z
    .array(z.string())
    .optional()
    .describe(
      'Names of the members that the hash covers. Null or absent if nothing is committed to, if the issuer has not seen the output, and under receipt policies 1 to 8.',
    ),
});
export type OutputCommitment = DocumentOf<typeof OutputCommitmentNoun>;

export const FulfillmentIntentNoun = z.object({
  job_kind: word(jobKindWords).describe('Kind of work that was paid for, such as `completions`.'),
  resource: z
    .string()
    .nullable()
    .describe(
      'URL at which the work was bought; for a payment to somebody else, its URL or name as the payer states it. Null if not known.',
    ),
  intent_id: z.string().nullable().describe('Id of the intent that the call names. Null if it names none.'),
  attempt_index: z
    .int()
    .nullable()
    .describe('Number of the attempt at the intent, from 0. Null if the call names no attempt.'),
});

export const FulfillmentAuthorizationNoun = z.object({
  payer_wallet: z
    .string()
    .nullable()
    .describe('Address of the wallet that paid. Null if nothing was paid, or if the payment was only reported.'),
  delegation_hash: z
    .string()
    .nullable()
    .describe('Delegation hash of the session that the call was made under. Null if it was made under none.'),
  payment_ref: z
    .string()
    .nullable()
    .describe('`network:transaction` of the payment. Null if nothing was paid, or if the payment was only reported.'),
});

/** The paid-job envelope. */
export const FulfillmentNoun = z.object({
  intent: FulfillmentIntentNoun.describe('What was to be bought: kind of work, resource and intent.'),
  authorization: FulfillmentAuthorizationNoun.describe(
    'Wallet, session and payment that authorized the job, as far as they are known.',
  ),
  output_commitment: OutputCommitmentNoun.describe(
    'Commitment to what was delivered: its hash, or the reason why there is none.',
  ),
});
export type Fulfillment = DocumentOf<typeof FulfillmentNoun>;

/** Members that have a value only for a call that was paid under a session, the last two only for a receipt that was handed on. */
const session = {
  delegation_hash: z
    .string()
    .optional()
    .describe(
      'Delegation hash of the session that the call was paid under, or the act was done in. Null or absent if there was none, or if the session had ended, or had less than 10 seconds left, when this was signed: then only `fulfillment.authorization` has the hash.',
    ),
  valid_after: z
    .int()
    .optional()
    .describe(
      'Time from which the delegated session is valid, in Unix seconds. `iat` of the token is not before it. Null or absent without `delegation_hash`.',
    ),
  session_expiry: z
    .int()
    .optional()
    .describe(
      'Time at which the delegated session ends, in Unix seconds. `iat` of the token is not after it. Null or absent without `delegation_hash`.',
    ),
  parent_receipt_id: z
    .string()
    .optional()
    .describe(
      'Task id of the receipt that was handed off. Null or absent if this receipt was not made for another agent.',
    ),
  target_agent: z
    .int()
    .optional()
    .describe('Id of the agent that may redeem this receipt. Null or absent if it was not made for another agent.'),
};
const bookChain = {
  book_id: z
    .int()
    .optional()
    .describe(
      'Agent id of the book, signed beside `payment_ref`. Null or absent unless the payload version is 4, which signs no `payment`.',
    ),
  observed_transfer: TransferFactsNoun.optional().describe(
    'The transfer as its chain shows it. Null or absent unless the payload version is 4.',
  ),
  payer_proven: z
    .boolean()
    .optional()
    .describe(
      'Whether the payer of the transfer is known to be the agent of the book. Null or absent unless the payload version is 4.',
    ),
};
const legs = sizedList(SignedLegNoun, 2)
  .optional()
  .describe(
    'Both payments of a call that was paid for in two parts: the payment to the party that was owed the amount, which is `payment`, and the fee of this service. Null or absent if there was one payment or none.',
  );
const waived_by = word(waivers)
  .optional()
  .describe(
    'Kind of API key that was used in place of a payment: `live_key` or `demo_key`. Null or absent if none was.',
  );
const answered = {
  answered_model: z
    .string()
    .optional()
    .describe(
      'Model that the hub named in its answer. Null or absent if it named none, and under receipt policies 1 to 8.',
    ),
  answered_catalogue_model: z
    .string()
    .optional()
    .describe(
      "Id of the model in the hub's catalogue that `answered_model` stands for, as configured when this was signed: `model` if `answered_model` is an alias of it, otherwise the id of another model. Null or absent if `answered_model` is missing, stands for none, or is `model` itself or a version of it, and under receipt policies 1 to 8.",
    ),
};
const vendor_blind = z
  .literal(true)
  .optional()
  .describe(
    'True if this service added nothing that says who asks. What the caller wrote for the model was put into the form that the hub takes; members without effect were left out. Text of the caller that names the caller reached the hub. Promised only to callers that prove possession of a book: null or absent for others, with a demo key, for a model of the router, if the hub delivers the answer by a link, and if no model was asked for.',
  );
const payload_version = z
  .int()
  .describe(
    'Version of the payload: 8 to 11, or 4 if it signs `book_id`, `payment_ref` and `observed_transfer` in place of `payment`.',
  );
const task_id = z.string().describe('Task id of the receipt.');
const hub = z
  .string()
  .describe(
    'Name of the hub that answered; for an ingested payment, as the request names it, or the host of the resource. `svc` for an effect of this service; empty if no hub is known.',
  );
const model = z
  .string()
  .describe(
    'Model that the hub was asked for or, if no hub was asked, the name of what was bought; empty if there is none. `answered_model` is the model that the hub named in its answer.',
  );
const claim_id = z
  .int()
  .optional()
  .describe(
    'Agent id of the book that the receipt belongs to. Null or absent if it belonged to none when it was signed.',
  );

/**
 * The signed payload. Its SHA-256 is `payload_hash`, and its RFC 6962 leaf hash is in the log. It has neither tree head nor signatures, so
 * that it can be made before the log's head is locked. A member that does not apply is left out, never null. Old versions lack some.
 */
export const ReceiptPayloadNoun = z
  .object({
    schema: z.literal(documents.receipt).describe(`Always \`${documents.receipt}\`.`),
    payload_version,
    task_id,
    issued_at: TimeMember.describe('Time the payload was signed (RFC 3339, UTC).'),
    hub,
    model,
    job_kind: wordText(jobKindWords).describe('Kind of work that was paid for, such as `completions`.'),
    request_hash: HashMember.describe(
      'SHA-256, in hex, of the canonical JSON `{request_hash, salt}`. In it, `request_hash` is the SHA-256, in hex, of the GraphQL call that was paid for, as canonical JSON `{field, args}` with `delegation_hash` under a delegated session; `salt` is the response header x-svc-request-salt.',
    ),
    caller_binding: CallerBindingNoun.describe(
      'What is known of the caller: paying wallet (`payer_wallet`), key of the delegated session (`agent_pubkey`), hash of the API key (`api_key_hash`). Empty if none is known.',
    ),
    fulfillment: FulfillmentNoun.describe(
      'What was bought, what authorized it, and a commitment to what was delivered.',
    ),
    tolerance: ToleranceNoun.describe(
      'How far amounts (in atomic USDC) and clocks (in seconds) may differ from what is signed. Null or absent in payload version 8.',
    ),
    issuer_history: IssuerHistoryReferenceNoun.describe(
      "Snapshot of the issuer's keys that was valid when this was signed. Null or absent in payload versions 8 and 9.",
    ),
    receipt_policy: PolicyReferenceNoun.describe(
      'Hash and version of the receipt policy that governs this receipt. Null or absent in payload versions 8 to 10.',
    ),
    claim_id,
    book_id: bookChain.book_id,
    payment_ref: z
      .string()
      .optional()
      .describe(
        '`network:transaction` of the payment, signed beside `book_id`. Null or absent unless the payload version is 4.',
      ),
    observed_transfer: bookChain.observed_transfer,
    payer_proven: bookChain.payer_proven,
    payment: SignedPaymentNoun.optional().describe(
      'The payment: to this service or, with `legs`, to the winner of a job. Null or absent if there was none, and in payload version 4, which signs `observed_transfer` instead.',
    ),
    legs,
    settlement_basis: word(settledByWords)
      .optional()
      .describe(
        'What the payment counted as settled by when the issuer signed: `observed_transfer` or `receipt`. Null or absent if nothing was paid, if the payment was only reported, and before receipt policy 4, which signed `settled_by`.',
      ),
    settled_by: word(settledByWords)
      .optional()
      .describe(
        'Former name of `settlement_basis`, in receipts that were signed before receipt policy 4. Null or absent in later ones, and if nothing was paid.',
      ),
    waived_by,
    reported: ReportedNoun.optional(),
    reported_parties: ReportedPartiesNoun.optional().describe(
      'Payer and payee of a reported completion, as they were reported, and whether the chain had shown the payment. Signed from receipt policy 8 on. Null or absent for any other receipt.',
    ),
    ...session,
    intent_id: z.string().optional().describe('Id of the intent that the call names. Null or absent if it names none.'),
    attempt_index: z
      .int()
      .optional()
      .describe('Number of the attempt at the intent, from 0. Null or absent if the call names no attempt.'),
    ...answered,
    vendor_blind,
    provider_cogs: ProviderCogsNoun.optional().describe(
      'Cost of the work to the issuer, in atomic USDC, computed in two ways: from the token counts, and as the price of the call at the hub. Null or absent if neither is known.',
    ),
    profile: z
      .literal('development')
      .optional()
      .describe('`development` if stand-ins were in use. Null or absent in production.'),
  })
  .describe(
    'Signed payload, which is the leaf of the receipt in the log. The SHA-256 of its canonical JSON (RFC 8785) is payload_hash. A member without a value is left out; on the graph it is null.',
  );
export type ReceiptPayload = DocumentOf<typeof ReceiptPayloadNoun>;
export type ReceiptPayment = DocumentOf<typeof SignedPaymentNoun>;
export type ReceiptLeg = DocumentOf<typeof SignedLegNoun>;
export type ProviderCogs = DocumentOf<typeof ProviderCogsNoun>;
export type Tolerance = DocumentOf<typeof ToleranceNoun>;
export type IssuerHistoryRef = DocumentOf<typeof IssuerHistoryReferenceNoun>;
export type ReceiptPolicyRef = DocumentOf<typeof PolicyReferenceNoun>;
export type AnsweredAgain = DocumentOf<typeof AnsweredAgainNoun>;

export const IssuerSignatureNoun = z.object({
  jws: z.string().describe('Compact JWS (ES256). Its claims are the signed members.'),
  kid: z.string().describe('Id of the published key that made this signature.'),
  value: z.string().describe('Raw ES256 signature (64 bytes) over the canonical payload, in base64url.'),
  alg: z.literal('ES256').describe('Algorithm, as JOSE names it: `ES256`.'),
});

/** Where the keys of the issuer are, and what to do with them. */
export const VerificationNoun = z.object({
  jwks_uri: z.string().describe('URL of the public keys of the issuer (JWK Set).'),
  issuer_history_uri: z.string().describe('URL of the history of the keys of the issuer.'),
  how: z.string().describe('How to verify the signatures, in sentences.'),
});

/** Signature of a document that is signed whole. */
export const DocumentSignatureNoun = IssuerSignatureNoun.pick({ kid: true, alg: true }).extend({
  value: z
    .string()
    .describe(
      'Raw ES256 signature over the canonical JSON (RFC 8785) of the document without `signature`, in base64url.',
    ),
});

type ShownMemberName = Exclude<ReceiptMemberName, HiddenMember>;
type HiddenMember = {
  [K in ReceiptMemberName]: (typeof receiptMembers)[K] extends { readonly hidden: true } ? K : never;
}[ReceiptMemberName];

/** The public receipt. Its members are made by `schema/receipt-facts.ts`. */
export const ReceiptNoun = z.object({
  task_id,
  verify_url: z.string().describe('URL of the public page of the receipt.'),
  proof_outcome: word(proofOutcomes).describe(
    'What is known of the payment. `settled`: its transfer was seen. `pending`: not seen yet. `unverified`: not found in time. `none`: there is no payment to prove. May still change, as may `settled_by`, `ingress_receipt` and `omission_rule`.',
  ),
  hub,
  model,
  amount: AtomicMember.optional().describe(
    'Amount of the payment in atomic units of the rail: USDC, or XNO for an ingested payment on Nano. Null or absent if nothing was paid, and in a receipt with `reported`.',
  ),
  payer_wallet: z
    .string()
    .optional()
    .describe(
      'Wallet that paid. Null or absent if nothing was paid, in a receipt with `reported`, and for an ingested payment, whose payer is in `observed_transfer`.',
    ),
  payload_version,
  payload: ReceiptPayloadNoun,
  payload_hash: HashMember.describe('SHA-256, in hex, of the canonical JSON of the payload.'),
  leaf_index: z.int().describe('Index of the leaf in the log, from 0.'),
  tree_size: z.int().describe('Number of leaves of the log up to and including this receipt.'),
  log_id: z.int().describe('Id of the receipt log.'),
  root_hash: HashMember.describe('Root hash of the log up to this receipt, in lower-case hex like all hashes.'),
  tree_head_hash: HashMember.describe(
    'SHA-256 of the canonical JSON of {log_id, tree_size, root_hash}. By signing it, the issuer binds the receipt to its place in the log.',
  ),
  book_seq: z
    .int()
    .optional()
    .describe('The seq of the row that was recorded with the receipt. Null or absent if none was.'),
  caller_binding: CallerBindingNoun.describe(
    'What is known of the caller: paying wallet (`payer_wallet`), key of the delegated session (`agent_pubkey`), hash of the API key (`api_key_hash`). Empty if none is known.',
  ),
  ...session,
  claim_id: onGraph('agentId', claim_id),
  ...bookChain,
  legs,
  issuer_signature: IssuerSignatureNoun.describe('Signature of the issuer: a JWS (ES256) in `jws`.'),
  signature: z
    .object({
      alg: z.literal('Ed25519').describe('Always `Ed25519`.'),
      kid: IssuerSignatureNoun.shape.kid,
      value: z.string().describe('Ed25519 signature over the text of `payload_hash`, in base64url.'),
    })
    .describe('Ed25519 signature of the issuer over the text of `payload_hash`.'),
  co_signature: z
    .object({
      alg: z.literal('secp256k1-eip191').describe('Always `secp256k1-eip191`.'),
      address: z.string().describe('Published address of the issuer that signed (0x and 40 hex digits).'),
      value: z.string().describe('EIP-191 signature over the text of `payload_hash`, as 0x and hex.'),
    })
    .describe('secp256k1 signature (`value`) of the issuer (`address`) over the text of `payload_hash` (EIP-191).'),
  settled_by: word(settledByWords)
    .nullable()
    .describe(
      'What the settlement rests on now: `observed_transfer`, or `receipt` as long as only the issuer asserts it. Null if nothing was paid, or if the payment was only reported.',
    ),
  waived_by,
  reported: ReportedNoun.optional(),
  ...answered,
  vendor_blind,
  ingress_receipt: JsonMember.optional().describe(
    'The transfer, if it was seen after the receipt was signed: `{ref, confirmed_at}`. Null or absent otherwise.',
  ),
  omission_rule: z
    .string()
    .optional()
    .describe(
      'Why the payment no longer counts, as a code, such as `no_ingress_receipt_at_cutoff`. Null or absent if it counts, if nothing was paid, or if it never counted.',
    ),
  answered_again: AnsweredAgainNoun.optional().describe(
    'Whole answer that the same payment brought later, after the first answer broke off. Unsigned; on a book, a correction event commits to it. Null or absent if there was none.',
  ),
  anchor_changed_since_binding: z
    .boolean()
    .describe('True if the log has a later tree head than the one that the receipt signs.'),
  freeze: z
    .boolean()
    .describe(
      'True if the receipt has a row on a book, the issuer asserts its payment but has not seen it settled, and the log has grown since.',
    ),
  unverifiable_from_registry: z
    .boolean()
    .describe(
      'True if the transfer was searched for until the cutoff and not found, and the issuer does not assert the payment either (`settled_by` is null). This does not mean that nothing was paid.',
    ),
  local_check: LocalCheckNoun.optional().describe(
    'Transfer of USDC on Base that anybody can look up. It is no claim that the transfer took place. Null or absent for other networks, if nothing was paid, and in a receipt with `reported`.',
  ),
  binding: ChainBindingNoun.describe(
    'Whether a proof system binds the receipt to a chain. None is used here: `in_proof` is always false.',
  ),
  verification: z
    .object({
      ...VerificationNoun.shape,
      receipt_policy_uri: z.string().describe('URL of the published receipt policies, by version and hash.'),
      preimage_uri: z.string().describe('URL of the canonical payload (RFC 8785), whose SHA-256 is `payload_hash`.'),
    })
    .describe('How to verify the receipt: URLs of keys, histories and payload, and the steps.'),
  profile: z.enum(['development', 'production']).describe('`production`, or `development` if stand-ins are in use.'),
  chain_ended: z
    .literal(true)
    .optional()
    .describe('True if the development chain that carried the payment no longer exists. Null or absent otherwise.'),
  payment_ref: z
    .string()
    .nullable()
    .describe('`network:transaction` of the payment. Null if nothing was paid, and in a receipt with `reported`.'),
} satisfies Record<ShownMemberName, z.ZodType>);

/** The public receipt as a member of the answer that was paid for. */
export const ReceiptInAnswerNoun = ReceiptNoun.extend({
  settlement_status: word(settlementStatuses),
  rerun: AnsweredAgainNoun.shape.rerun
    .optional()
    .describe('Number of the rerun that brought this answer, from 1. Null or absent if the first attempt brought it.'),
});

/** The members of a receipt that the graph has one by one, with those that only the graph has. */
export const ReceiptNodeNoun = ReceiptNoun.pick({
  task_id: true,
  leaf_index: true,
  tree_size: true,
  root_hash: true,
  tree_head_hash: true,
  payload_hash: true,
  payload_version: true,
  payment_ref: true,
  claim_id: true,
  book_seq: true,
  payer_wallet: true,
  hub: true,
  model: true,
  amount: true,
  settled_by: true,
  proof_outcome: true,
}).extend({
  preimage: z
    .string()
    .describe('The payload as canonical JSON (RFC 8785): payload_hash is its SHA-256.')
    .meta({ cost: 5 }),
  jws: IssuerSignatureNoun.shape.jws,
  kid: IssuerSignatureNoun.shape.kid,
  issued_at: ReceiptPayloadNoun.shape.issued_at,
  collected_at: TimeMember.describe(
    'Time the receipt was added to the log (RFC 3339, UTC). Not later than that of the next receipt in the log.',
  ),
});

/** A page of the receipts of a wallet. */
export const WalletReceiptsNoun = z.object({
  wallet: z.string().describe('Address of the wallet, in EIP-55 spelling.'),
  receipts: z
    .array(ReceiptNoun.meta({ shows: z.object({ document: z.unknown() }) }))
    .describe('Receipts of this page, in the order of the log: oldest first.'),
  next: z.int().nullable().describe('`after` of the next page, which may be empty. Null if there is none.'),
});
