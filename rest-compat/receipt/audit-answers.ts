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
    from: z.int().describe('Number of leaves of the smaller of the two trees.'),
    to: z.int().describe('Number of leaves of the larger of the two trees.'),
    proof: z.array(HashMember).describe('Hashes of the consistency proof, in the order of RFC 9162 §2.1.4.'),
  })
  .describe('Proof that the larger tree extends the smaller one (RFC 9162 §2.1.4).');

const Anchor = z.object({
  tree_size,
  root_hash,
  network: z.literal('base'),
  chain: z.string().describe('CAIP-2 id of the chain, such as `eip155:8453`.'),
  tx_hash: z.string().describe('Hash of the transaction of the anchor (0x and 64 hex digits).'),
  block_number: z.int().describe('Number of the block on Base that has the transaction.'),
  final: z.boolean().describe('Whether the block was final when the service last read it.'),
  sender: z.string().describe('Address that sent the transaction (0x and 40 hex digits).'),
  event: z.string().describe('Solidity signature of the event: `Anchored(address,uint256,uint64,bytes32)`.'),
  topic: z.string().describe('First topic of the event: keccak256 of `event` (0x and 64 hex digits).'),
  consistency: Consistency.describe(
    'Consistency proof (RFC 9162 §2.1.4) between this tree head and the one that the receipt signs: the larger tree extends the smaller one.',
  ),
});

const LogEvidence = z.object({
  log_id: z.int().describe('Id of the receipt log.'),
  head: JsonMembers.describe(
    'Newest signed tree head: `tree_size`, `root_hash`, `tree_head_hash` and the signature `jws` (ES256).',
  ),
  inclusion: InclusionProofNoun.omit({ task_id: true }).describe(
    'Proof that the newest tree contains the receipt (RFC 9162 §2.1.3).',
  ),
  consistency: Consistency.describe(
    'Proof that the newest tree extends the one whose head the receipt signs (RFC 9162 §2.1.4).',
  ),
  checkpoint: z.string().describe('Newest tree head as a signed note (C2SP tlog-checkpoint).'),
  verifier_keys: z
    .array(z.string())
    .describe('Public keys that verify `checkpoint`, as C2SP signed-note verifier keys.'),
  tlog_proof: z.string().describe('Proof that the log contains the receipt, as a text (C2SP tlog-proof).'),
  anchor: Anchor.nullable().describe(
    'Newest tree head that a transaction on Base recorded (anchor), and where it is found. Null if there is none, or if it is no head of the log since a declared break.',
  ),
});

const Check = z.object({
  check: z.string().describe('What is checked, as a short name.'),
  how: z.string().describe('How to do the check, with the standard and the members to use.'),
});

const auditMembers = {
  as_of: z.string().describe('Time the document was made (RFC 3339, UTC).'),
  preimage: z.string().describe('Signed payload as canonical JSON (RFC 8785).'),
  keys: KeySetAnswer.describe('All public keys that the issuer has published (JWK Set).'),
  issuer_history: JsonMembers.optional().describe(
    'History of the keys of the issuer: for a receipt up to the version that it signs, for a refusal up to the newest. Absent if the receipt signs none.',
  ),
  proves: z.array(z.string()).describe('What the document proves, in sentences.'),
  does_not_prove: z.array(z.string()).describe('What the document does not prove, in sentences.'),
  checks: z
    .array(Check)
    .describe('Checks that verify the document, each with a way to do it without code of this service.'),
};

export const ReceiptAuditAnswer = z.object({
  schema: z.literal(documents.receipt_audit),
  receipt: ReceiptNoun.describe('Signed receipt that this document is about.'),
  receipt_policy: JsonMembers.optional().describe(
    'Receipt policy whose hash the receipt signs. Absent if the receipt signs none.',
  ),
  log: LogEvidence.optional().describe(
    'Proofs that the log has the receipt and has only grown since. Absent while the log is halted.',
  ),
  transfer: JsonMembers.optional().describe(
    'How to look up the transfer on its chain: `tx_hash`, a call of any node (`rpc_method`, `rpc_params`) and the result to `expect`, in words. Absent if the receipt signs no payment or transfer.',
  ),
  lane: JsonMembers.describe(
    'Facts about the payment and the call that are not signed and may change, such as `proof_outcome`.',
  ),
  ...auditMembers,
});

export const RefusalAuditAnswer = z.object({
  schema: z.literal(documents.refusal_audit),
  refusal: RefusalNoun.describe('Signed refusal that this document is about.'),
  ...auditMembers,
});

nameComponents({ ReceiptAudit: ReceiptAuditAnswer, RefusalAudit: RefusalAuditAnswer });
