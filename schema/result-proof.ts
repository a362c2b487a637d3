import { z } from 'zod';
import { AtomicMember, TimeMember, word } from './noun.ts';
import { proofOutcomes } from './receipt-payload.ts';
import { taskStates } from './task-state.ts';
import type { WordOf, Words } from './words.ts';

/* What is shown of what can be proven of a task: its settlement on its chain, and its place in the log. */

const Hash = z.string().regex(/^[0-9a-f]{64}$/);

/** Where a receipt stands in the log (RFC 9162 §2.1.3). */
const place = {
  leaf_index: z.int().describe('Position of the receipt in the log, from 0.'),
  leaf_hash: Hash.describe('SHA-256 of 0x00 and the canonical payload, in lower-case hex like all hashes.'),
};
const tree = {
  tree_size: z.int().describe('Size of the tree that the proof is for.'),
  root_hash: Hash.describe('Root hash of that tree.'),
};
const path = z.array(Hash).describe('Hashes of the inclusion proof, from the leaf up (RFC 9162 §2.1.3).');

export const InclusionProofNoun = z.object({
  task_id: z.string().describe('Task id of the receipt.'),
  ...place,
  ...tree,
  path,
});

/** The same under a signed head, without the payload, whose members its own schema describes. */
export const LogInclusionNoun = z.object({
  log_id: z.int().describe('Id of the log.'),
  ...place,
  path,
  ...tree,
  tree_head_hash: Hash.describe('SHA-256 of the canonical {log_id, tree_size, root_hash}.'),
  jws: z.string().describe('ES256 JWS of the tree head.'),
  kid: z.string().describe('Id of the published key that signed the tree head.'),
  at: TimeMember.describe('Time the tree head was signed (RFC 3339, UTC).'),
});

/** Where the transfer that paid for a task is found. The chain alone proves it. */
export const SettlementProofNoun = z.object({
  payment_ref: z.string().describe('`network:transaction`.'),
  network: z.string().describe('Network of the payment: `base`, `solana` or `nano`.'),
  chain: z.string().describe('CAIP-2 id of the chain. `nano` for Nano, which has none.'),
  tx_hash: z.string().describe('Id of the transaction.'),
  transfer_index: z
    .int()
    .nullable()
    .describe('Index of the Transfer event in its block. Null if the transfer was not looked at.'),
  asset: z.string().describe('Address of the token.'),
  amount: AtomicMember.describe('Amount in atomic units of the token.'),
  payer: z.string().describe('Wallet that paid.'),
  pay_to: z.string().describe('Wallet that was paid.'),
  payment_id: z
    .string()
    .nullable()
    .describe(
      'Nonce of the authorization, or hash of the message. Null for a transfer of a book chain, of which nothing else is known.',
    ),
  observed: z
    .boolean()
    .describe('True if the issuer has seen the transfer. False if it relies on the word of a facilitator.'),
});

export const proofReasons = {
  graph: 'ShownFor',
  description: 'Why a settlement is shown.',
  meanings: {
    requested: 'The request asked for it.',
    above_cost_gate: 'Enough was paid that it is shown without being requested.',
  },
} as const satisfies Words;
export type ProofReason = WordOf<typeof proofReasons>;

export const ResultProofNoun = z.object({
  task_id: z.string().describe('Id of the task.'),
  status: word(taskStates).describe('State of the task.'),
  proof_outcome: word(proofOutcomes).describe('What is known of the money.'),
  verify_url: z.string().describe('Page of the receipt, or of the signed refusal.'),
  shown_for: word(proofReasons).nullable().describe('Why the settlement is shown. Null if it is not shown.'),
  settlement: SettlementProofNoun.nullable().describe(
    'Settlement of the task. Null if nothing was paid, or if it is not shown.',
  ),
  inclusion: LogInclusionNoun.nullable().describe('Place of the receipt in the log. Null while there is no receipt.'),
  proves: z.array(z.string()).describe('What this answer proves, in sentences.'),
  does_not_prove: z.array(z.string()).describe('What this answer does not prove, in sentences.'),
});
