import { z } from 'zod';
import { Atomic, nameComponents } from '../answer-shapes.ts';
import { Hash, ReceiptAnswer } from '../receipt/signed-receipt.ts';

/** What the inbound door answers, as it looks on the wire. */
export const CompletionAnswer = z.object({
  task_id: z.string().describe('Of its receipt.'),
  source: z.string(),
  external_id: z.string(),
  network: z.enum(['base', 'solana']),
  payer: z.string().describe('As it was said, as all up to output_hash.'),
  payee: z.string(),
  amount: Atomic.describe('Atomic USDC.'),
  payment_ref: z.string().describe('`network:transaction`.'),
  output_hash: Hash.describe('Nobody here has seen what was delivered.'),
  settled_by: z
    .enum(['observed_transfer', 'receipt'])
    .nullable()
    .describe('`observed_transfer` where the chain showed that payment before this was recorded; else null.'),
  evidence: z.enum(['foreign_ingest', 'UNVERIFIED']),
  observed_transfer: z
    .object({
      network: z.enum(['base', 'solana']),
      transaction: z.string(),
      index: z.int().describe('Which transfer of its transaction.'),
      asset: z.string(),
      payer: z.string(),
      pay_to: z.string(),
      amount: Atomic,
      final: z.boolean().describe('Whether no other block could take the place of its own by then.'),
    })
    .nullable(),
  verify_url: z.string().describe('Public receipt page.'),
  receipt: ReceiptAnswer.describe('It signs what was said, and what of it was seen. It stands on no book.'),
  recorded_at: z.iso.datetime(),
});

nameComponents({ Completion: CompletionAnswer });
