import { z } from 'zod';
import { ReceiptKeyNoun } from '../book/receipt-key.ts';
import { networkWords } from '../network.ts';
import { AtomicMember, MomentMember, word } from '../noun.ts';
import { settledByWords } from '../receipt-payload.ts';
import { SignedPaymentNoun } from '../receipt-shapes.ts';
import type { WordOf, Words } from '../words.ts';

/* What is shown of a completion that was reported from elsewhere. */

/** What is known of the payment of a completion. */
export const completionEvidence = {
  graph: 'CompletionEvidence',
  description: 'What is known of the payment of a completion that another board or service reported.',
  meanings: {
    foreign_ingest: 'The chain showed the payment before the completion was recorded.',
    UNVERIFIED: 'The payment was only reported. The chain did not show it.',
  },
} as const satisfies Words;
export type CompletionEvidence = WordOf<typeof completionEvidence>;

const Network = word(networkWords);
const { asset, payer, pay_to } = SignedPaymentNoun.shape;

/** The payment of a completion, as its chain showed it. */
export const CompletionTransferNoun = z.object({
  network: Network.describe('Network of the payment.'),
  transaction: z
    .string()
    .describe('Transaction hash on Base (0x and 64 hex digits), or transaction signature on Solana (base58).'),
  index: z
    .int()
    .describe('Index of the log in its block on Base, or of the instruction in its transaction on Solana, from 0.'),
  asset,
  payer,
  pay_to,
  amount: AtomicMember,
  final: z.boolean().describe('Whether the block of the payment was final when the completion was recorded.'),
});

/** A completion without its receipt, which REST shows as it is signed and the graph as a type of its own. */
export const CompletionNoun = z.object({
  task_id: z.string().describe('Task id of the receipt of the completion.'),
  source: z.string().describe('Name of the board or service where the work was completed, as reported.'),
  external_id: z.string().describe('Id of the completion at its source, as reported.'),
  network: Network.describe('Network of the payment, as reported: `base` or `solana`.'),
  payer: z.string().describe('Wallet that paid, as reported.'),
  payee: z.string().describe('Wallet that was paid, as reported.'),
  amount: AtomicMember.describe('Amount that was paid, in atomic USDC, as reported.'),
  payment_ref: z.string().describe('`network:transaction` of the payment, as reported.'),
  output_hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('SHA-256 of what was delivered, in hex, as reported. This service has not seen what was delivered.'),
  settled_by: word(settledByWords)
    .nullable()
    .describe('`observed_transfer` if the chain showed the payment before this was recorded. Null otherwise.'),
  evidence: word(completionEvidence).describe(
    '`foreign_ingest` if the chain showed the payment before this was recorded, otherwise `UNVERIFIED`.',
  ),
  observed_transfer: CompletionTransferNoun.nullable().describe(
    'The payment as its chain showed it. Null if the chain did not show it before this was recorded.',
  ),
  verify_url: z.string().describe('URL of the public page of the receipt.'),
  recorded_at: MomentMember.describe('Time the completion was first recorded (RFC 3339, UTC).'),
});

/** The board subgraph refers to receipts by its own type: the book subgraph adds fields to the type that it uses. */
export const CompletionReceiptNoun = ReceiptKeyNoun.pick({ task_id: true });

/** Members that only the graph shows. */
export const CompletionOnGraph = z.object({
  receipt: CompletionReceiptNoun.describe(
    'Signed receipt of the completion as reported and, if the chain showed it, of the payment.',
  ),
  idempotent_replay: z.boolean().describe('True if the same completion was recorded before.'),
});
