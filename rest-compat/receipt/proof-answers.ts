import { z } from 'zod';
import { proofOutcomes } from '../../schema/receipt-payload.ts';
import { Atomic } from '../book/answers.ts';
import { JsonMembers } from './answers.ts';

const Hash = z.string().regex(/^[0-9a-f]{64}$/);

const Settlement = z.object({
  payment_ref: z.string(),
  network: z.string(),
  chain: z.string().describe('CAIP-2.'),
  tx_hash: z.string(),
  transfer_index: z.int().nullable().describe('Of the Transfer in its block; null where it was not looked at.'),
  asset: z.string(),
  amount: Atomic,
  payer: z.string(),
  pay_to: z.string(),
  payment_id: z.string(),
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
  payload: JsonMembers.describe('What the leaf is made of, once it is canonical JSON.'),
});

export const ResultProof = z.object({
  task_id: z.string(),
  status: z.string(),
  proof_outcome: z.enum(proofOutcomes),
  verify_url: z.string(),
  shown_for: z.enum(['requested', 'above_cost_gate']).nullable().describe('Why the settlement is shown.'),
  settlement: Settlement.nullable().describe('Null where nothing was paid, or it is not shown.'),
  inclusion: Inclusion.nullable().describe('Null as long as there is no receipt.'),
  proves: z.array(z.string()),
  does_not_prove: z.array(z.string()),
});
