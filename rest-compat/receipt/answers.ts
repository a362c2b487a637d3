import { z } from 'zod';
import { proofOutcomes } from '../../schema/receipt-payload.ts';
import { refusalCodes } from '../../schema/refusal-payload.ts';
import { taskStates } from '../../schema/task-state.ts';
import { Atomic, JsonMembers, nameComponents, Problem } from '../answer-shapes.ts';
import { Hash, PayloadAnswer } from './signed-receipt.ts';

export const TaskStatusAnswer = z.object({
  task_id: z.string(),
  status: z.enum(taskStates),
  proof_outcome: z
    .enum(proofOutcomes)
    .describe('`none` where its book refused it or a key stood in for the payment: nothing was charged.'),
  payment_ref: z.string().nullable(),
  verify_url: z.string().describe('Of its receipt, or of the signed refusal.'),
});

export const KeySetAnswer = z.object({
  keys: z.array(JsonMembers),
  addresses: z
    .string()
    .describe(
      'Compact JWS (ES256, `typ` svc-addresses+jwt) over {iss, iat, base_urls}: the base URL of this service, and those that it had before. A verifier accepts links of a receipt to these addresses and no others.',
    ),
});

export const SettlementStatusAnswer = z.object({
  payment_id: z.string(),
  state: z
    .enum(['claimed', 'pending', 'settled', 'failed', 'released'])
    .describe('`released` is still usable; `failed` can never be settled.'),
  task_id: z.string(),
  network: z.string(),
  payment_ref: z.string().nullable(),
  verify_url: z.string().nullable().describe('Of its receipt, also before that is there.'),
  charged: z.boolean().nullable().describe('Null while nobody knows.'),
  retry_after_seconds: z.int().nullable().describe('While it is open.'),
});

const ProvenSettlement = z.object({
  payment_ref: z.string(),
  network: z.string(),
  chain: z.string().describe('CAIP-2; `nano`, which has none.'),
  tx_hash: z.string(),
  transfer_index: z.int().nullable().describe('Of the Transfer in its block; null where it was not looked at.'),
  asset: z.string(),
  amount: Atomic,
  payer: z.string(),
  pay_to: z.string(),
  payment_id: z.string().nullable().describe('Null of a book chain: its transfer is all that is known.'),
  observed: z.boolean().describe("Whether the issuer has seen the transfer, and does not go by another's word."),
});

const Inclusion = z.object({
  log_id: z.int(),
  leaf_index: z.int(),
  leaf_hash: Hash.describe('SHA-256 of 0x00 and the canonical payload.'),
  path: z.array(Hash).describe('From the leaf up (RFC 9162 2.1.3).'),
  tree_size: z.int(),
  root_hash: Hash,
  tree_head_hash: Hash.describe('SHA-256 of the canonical {log_id, tree_size, root_hash}.'),
  jws: z.string().describe('ES256 of the head.'),
  kid: z.string(),
  at: z.string(),
  payload: PayloadAnswer.describe('What the leaf is made of, once it is canonical JSON.'),
});

export const ResultProofAnswer = z.object({
  task_id: z.string(),
  status: z.enum(taskStates),
  proof_outcome: z.enum(proofOutcomes),
  verify_url: z.string(),
  shown_for: z.enum(['requested', 'above_cost_gate']).nullable().describe('Why the settlement is shown.'),
  settlement: ProvenSettlement.nullable().describe('Null where nothing was paid, or it is not shown.'),
  inclusion: Inclusion.nullable().describe('Null as long as there is no receipt.'),
  proves: z.array(z.string()),
  does_not_prove: z.array(z.string()),
});

const Anchor = z.discriminatedUnion('status', [
  z.object({
    status: z.literal('AVAILABLE'),
    block_number: z.int(),
    block_hash: z.string(),
    state_root: z.string().optional(),
  }),
  z.object({ status: z.literal('UNAVAILABLE') }),
]);

/** A signed refusal: neither a receipt nor spend. */
export const RefusalAnswer = z.object({
  schema: z.literal('svc402.refusal.v1'),
  refusal_id: z.string(),
  chain_id: z.int().describe('EIP-155.'),
  base_anchor: Anchor.describe('The Base head that the issuer had seen.'),
  refusal_code: z.enum(refusalCodes),
  policy_code: z.string(),
  nonce: z.string(),
  timestamp: z.string(),
  agent_id: z.int(),
  book_id: z.int(),
  task_id: z.string(),
  requested_amount: Atomic.optional(),
  policy_blocked_seq: z.int().describe('The row of that book that says the same.'),
  charged: z.literal(false),
  profile: z.literal('development').optional(),
  refusal_url: z.string(),
  issuer_signature: z.object({ jws: z.string(), kid: z.string(), value: z.string(), alg: z.literal('ES256') }),
  verification: z.object({ jwks_uri: z.string(), issuer_history_uri: z.string(), how: z.string() }),
});

/** What the refused call itself is told: the signed refusal, and the problem beside it. */
export const RefusedCallAnswer = z.object({ ...Problem.shape, ...RefusalAnswer.shape });

nameComponents({
  TaskStatus: TaskStatusAnswer,
  KeySet: KeySetAnswer,
  SettlementStatus: SettlementStatusAnswer,
  ProvenSettlement,
  LogInclusion: Inclusion,
  ResultProof: ResultProofAnswer,
  Refusal: RefusalAnswer,
  RefusedCall: RefusedCallAnswer,
});
