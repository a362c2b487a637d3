import { z } from 'zod';
import { documents } from '../../schema/documents.ts';
import { HashMember } from '../../schema/noun.ts';
import { ReceiptNoun } from '../../schema/receipt-shapes.ts';
import { RefusalNoun } from '../../schema/refusal.ts';
import { InclusionProofNoun, TreeHeadNoun } from '../../schema/result-proof.ts';
import { JsonMembers, nameComponents } from '../answer-shapes.ts';
import { KeySetAnswer } from './answers.ts';

/* Documents of ?format=auditor: a receipt or refusal with all evidence, to check offline. */

const { tree_size, root_hash } = TreeHeadNoun.shape;

const Consistency = z
  .object({
    from: z.int().describe('Number of leaves of the smaller tree.'),
    to: z.int().describe('Number of leaves of the larger tree.'),
    proof: z.array(HashMember).describe('Hashes of the consistency proof.'),
  })
  .describe('Proof that the larger tree extends the smaller one (RFC 9162 §2.1.4).');

const Anchor = z.object({
  tree_size,
  root_hash,
  network: z.literal('base'),
  chain: z.string().describe('CAIP-2 id of the chain.'),
  tx_hash: z.string().describe('Hash of the transaction.'),
  block_number: z.int().describe('Number of the block.'),
  final: z.boolean().describe('Whether the block was final when it was read.'),
  sender: z.string().describe('Address that sent the anchor.'),
  event: z.string().describe('Signature of the event of the contract.'),
  topic: z.string().describe('First topic of the event: the hash of its signature.'),
  consistency: Consistency.describe('Proof between this tree head and the one that the receipt signs.'),
});

const LogEvidence = z.object({
  log_id: z.int().describe('Number of the log.'),
  head: JsonMembers.describe('Newest signed tree head: size, root hash, their hash, and its JWS (ES256).'),
  inclusion: InclusionProofNoun.omit({ task_id: true }).describe('Inclusion proof of the receipt.'),
  consistency: Consistency.describe('Proof between the tree head that the receipt signs and the newest one.'),
  checkpoint: z.string().describe('Newest tree head as a signed note (C2SP tlog-checkpoint).'),
  verifier_keys: z.array(z.string()).describe('Keys that verify the checkpoint (C2SP signed-note).'),
  tlog_proof: z.string().describe('Inclusion proof as a text (C2SP tlog-proof).'),
  anchor: Anchor.nullable().describe('Newest tree head that is anchored on Base. Null if there is none.'),
});

const Check = z.object({
  check: z.string().describe('Name of the check.'),
  how: z.string().describe('How to do the check.'),
});

const around = {
  as_of: z.string().describe('Time of this document (RFC 3339, UTC).'),
  preimage: z.string().describe('Canonical JSON that was signed.'),
  keys: KeySetAnswer.describe('All keys that the issuer has published.'),
  issuer_history: JsonMembers.optional().describe('History of the keys of the issuer. Absent if it is unavailable.'),
  proves: z.array(z.string()).describe('What the document proves.'),
  does_not_prove: z.array(z.string()).describe('What the document does not prove.'),
  checks: z.array(Check).describe('Checks of the document, and how to do each without code of this service.'),
};

export const ReceiptAuditAnswer = z.object({
  schema: z.literal(documents.receipt_audit),
  receipt: ReceiptNoun.describe('The receipt.'),
  receipt_policy: JsonMembers.optional().describe(
    'Policy with the hash that the receipt signs. Absent if there is none.',
  ),
  log: LogEvidence.optional().describe('Proofs of the log. Absent while the log is halted.'),
  transfer: JsonMembers.optional().describe('Where to look up the transfer. Absent if nothing was paid.'),
  lane: JsonMembers.describe('Facts about the payment and the call that are not signed and may change.'),
  ...around,
});

export const RefusalAuditAnswer = z.object({
  schema: z.literal(documents.refusal_audit),
  refusal: RefusalNoun.describe('The refusal.'),
  ...around,
});

nameComponents({ ReceiptAudit: ReceiptAuditAnswer, RefusalAudit: RefusalAuditAnswer });
