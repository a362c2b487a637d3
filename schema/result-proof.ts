import { z } from 'zod';
import { COUNT_RANGE } from './count-range.ts';
import { limits } from './limits.ts';
import { AtomicMember, HashMember, shownAsJson, TimeMember, word } from './noun.ts';
import { proofOutcomes } from './receipt-payload.ts';
import { ReceiptNoun, ReceiptPayloadNoun, SignedPaymentNoun } from './receipt-shapes.ts';
import { taskStates } from './task-state.ts';
import type { WordOf, Words } from './words.ts';

/* Tree heads of the log, and what can be proven of a task: its settlement on its chain, and its place in the log. */

/** A head of the log that the issuer signed. */
export const TreeHeadNoun = z.object({
  log_id: z.int().describe('Id of the receipt log.'),
  tree_size: z.int().describe('Number of leaves of the tree.'),
  root_hash: HashMember.describe('Root hash of the tree, in lower-case hex like all hashes.'),
  tree_head_hash: HashMember.describe(
    'SHA-256 (hex) of the canonical JSON of {log_id, tree_size, root_hash}. Receipts sign such a hash since payload version 9.',
  ),
  jws: z
    .string()
    .describe('Signature of the issuer: a compact JWS (ES256) over log_id, tree_size, root_hash and tree_head_hash.'),
  kid: z.string().describe('Id of the published key that signed the tree head.'),
  at: TimeMember.describe('Time the tree head was signed (RFC 3339, UTC).'),
});

export const ServiceStatsNoun = z.object({
  receipts: z.string().regex(COUNT_RANGE).describe('Number of receipts, as a range: `0`, `1-9`, `10-99` and so on.'),
});

/** Proof that a tree contains a receipt (RFC 9162 §2.1.3). */
export const InclusionProofNoun = z.object({
  task_id: z.string().describe('Task id of the receipt.'),
  leaf_index: ReceiptNoun.shape.leaf_index,
  leaf_hash: HashMember.describe('Hash of the leaf, in hex: SHA-256 of 0x00 and the canonical payload.'),
  tree_size: TreeHeadNoun.shape.tree_size,
  root_hash: TreeHeadNoun.shape.root_hash,
  path: z.array(HashMember).describe('Hashes (hex) of the inclusion proof, from the leaf up (RFC 9162 §2.1.3).'),
});

const { leaf_index, leaf_hash, path } = InclusionProofNoun.shape;
const { log_id, ...head } = TreeHeadNoun.shape;

/** The inclusion proof with the signed tree head that it leads to. */
export const LogInclusionNoun = z.object({
  log_id,
  leaf_index,
  leaf_hash,
  path,
  ...head,
  payload: shownAsJson(
    ReceiptPayloadNoun.describe('Payload of the receipt. The leaf is the SHA-256 of 0x00 and its canonical JSON.'),
  ),
});

const { transfer_index, asset, payer, pay_to } = SignedPaymentNoun.shape;

/** Where the transfer that paid for a task is found. The chain alone proves it. */
export const SettlementProofNoun = z.object({
  payment_ref: z.string().describe('Payment as `network:transaction`, such as `base:0x…`.'),
  network: z.string().describe('Network of the payment: `base`, `solana` or `nano`.'),
  chain: z.string().describe('CAIP-2 id of the chain, such as `eip155:8453`. `nano` for Nano, which has no such id.'),
  tx_hash: z.string().describe('Hash (Base) or signature (Solana) of the transaction, or hash of the block (Nano).'),
  transfer_index,
  asset,
  amount: AtomicMember.describe('Amount in atomic units of the token: USDC has 6 decimals, XNO has 30.'),
  payer,
  pay_to,
  payment_id: z
    .string()
    .nullable()
    .describe(
      'Nonce of the authorization (Base, 0x and 64 hex digits) or SHA-256 of the transaction message (Solana, 64 hex digits). Null for an ingested payment.',
    ),
  observed: z
    .boolean()
    .describe(
      'True if the issuer has seen the transfer on its chain. False if it relies on the statement of a facilitator.',
    ),
});

export const proofReasons = {
  graph: 'ShownFor',
  description: 'Why the settlement of a task is shown: on request, or because of its amount.',
  meanings: {
    requested: 'The request asked for the settlement.',
    above_cost_gate: `At least ${limits.settlement_proof_gate_atomic} atomic USDC was paid, so the settlement is shown without being requested.`,
  },
} as const satisfies Words;
export type ProofReason = WordOf<typeof proofReasons>;

export const ResultProofNoun = z.object({
  task_id: z.string().describe('Id of the task.'),
  status: word(taskStates).describe('State of the task, such as `working`, `settling` or `completed`.'),
  proof_outcome: word(proofOutcomes).describe(
    'What is known of the payment. `settled`: its transfer was seen. `pending`: not seen yet. `unverified`: not found in time. `none`: there is no payment to prove.',
  ),
  verify_url: z
    .string()
    .describe(
      'URL of the public page of the receipt or, if the book refused the task, of the signed refusal. The page exists as soon as the receipt or the refusal does.',
    ),
  shown_for: word(proofReasons)
    .nullable()
    .describe(
      `Why the settlement is shown: \`requested\`, or \`above_cost_gate\` (at least ${limits.settlement_proof_gate_atomic} atomic USDC was paid). Null if \`settlement\` is null.`,
    ),
  settlement: SettlementProofNoun.nullable().describe(
    `Settlement of the task. Null if there is no receipt, if it signs no payment, or if the settlement was not requested and less than ${limits.settlement_proof_gate_atomic} atomic USDC was paid.`,
  ),
  inclusion: LogInclusionNoun.nullable().describe('Place of the receipt in the log. Null while there is no receipt.'),
  proves: z.array(z.string()).describe('What this answer proves, in sentences.'),
  does_not_prove: z.array(z.string()).describe('What this answer does not prove, in sentences.'),
});
