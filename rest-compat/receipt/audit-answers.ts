import { z } from 'zod';
import { documents } from '../../schema/documents.ts';
import { HashMember } from '../../schema/noun.ts';
import { ReceiptNoun } from '../../schema/receipt-shapes.ts';
import { RefusalNoun } from '../../schema/refusal.ts';
import { InclusionProofNoun, TreeHeadNoun } from '../../schema/result-proof.ts';
import { JsonMembers, nameComponents } from '../answer-shapes.ts';
import { KeySetAnswer } from './answers.ts';

/* What ?format=auditor shows: a receipt or refusal, and all the evidence of it, to be checked offline. */

const { tree_size, root_hash } = TreeHeadNoun.shape;

const Consistency = z
  .object({ from: z.int(), to: z.int(), proof: z.array(HashMember) })
  .describe('That the tree of `from` leaves is the beginning of that of `to` (RFC 9162 §2.1.4).');

const Anchor = z.object({
  tree_size,
  root_hash,
  network: z.literal('base'),
  chain: z.string(),
  tx_hash: z.string(),
  block_number: z.int(),
  final: z.boolean().describe('Behind the finalized block when it was looked at.'),
  sender: z.string(),
  event: z.string(),
  topic: z.string(),
  consistency: Consistency.describe('Between that head and the one that the receipt signs.'),
});

const LogEvidence = z.object({
  log_id: z.int(),
  head: JsonMembers.describe('The newest signed head: size, root, their hash, and the ES256 JWS of it.'),
  inclusion: InclusionProofNoun.omit({ task_id: true }),
  consistency: Consistency.describe('From the head that the receipt signs to the newest.'),
  checkpoint: z.string().describe('C2SP tlog-checkpoint: the newest head as a signed note.'),
  verifier_keys: z.array(z.string()),
  tlog_proof: z.string().describe('C2SP tlog-proof.'),
  anchor: Anchor.nullable().describe('The newest head of the log that was seen on Base; null where there is none.'),
});

const Check = z.object({ check: z.string(), how: z.string() });

const around = {
  as_of: z.string(),
  preimage: z.string().describe('The canonical text that was signed.'),
  keys: KeySetAnswer.describe('Every key that the issuer ever published.'),
  issuer_history: JsonMembers.optional(),
  proves: z.array(z.string()),
  does_not_prove: z.array(z.string()),
  checks: z.array(Check).describe('How each is made again without our code.'),
};

export const ReceiptAuditAnswer = z.object({
  schema: z.literal(documents.receipt_audit),
  receipt: ReceiptNoun,
  receipt_policy: JsonMembers.optional().describe('The policy that governs it, by the hash that it signs.'),
  log: LogEvidence.optional().describe('Left out while the log is halted.'),
  transfer: JsonMembers.optional().describe('Where the transfer is to be looked up; left out where nothing was paid.'),
  lane: JsonMembers.describe('What is known beside it, and signed by nobody.'),
  ...around,
});

export const RefusalAuditAnswer = z.object({
  schema: z.literal(documents.refusal_audit),
  refusal: RefusalNoun,
  ...around,
});

nameComponents({ ReceiptAudit: ReceiptAuditAnswer, RefusalAudit: RefusalAuditAnswer });
