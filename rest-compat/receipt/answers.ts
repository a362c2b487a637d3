import { z } from 'zod';
import { IssuerSignatureNoun, ReceiptPayloadNoun } from '../../schema/receipt-shapes.ts';
import { refusalCodes } from '../../schema/refusal-payload.ts';
import { LogInclusionNoun, ResultProofNoun, SettlementProofNoun } from '../../schema/result-proof.ts';
import { SettlementNoun, TaskStatusNoun } from '../../schema/settlement.ts';
import { wordList } from '../../schema/words.ts';
import { Atomic, JsonMembers, nameComponents, Problem } from '../answer-shapes.ts';

export const KeySetAnswer = z.object({
  keys: z.array(JsonMembers),
  addresses: z
    .string()
    .describe(
      'Compact JWS (ES256, `typ` svc-addresses+jwt) over {iss, iat, base_urls}: the base URL of this service, and those that it had before. A verifier accepts links of a receipt to these addresses and no others.',
    ),
});

const Inclusion = LogInclusionNoun.extend({
  payload: ReceiptPayloadNoun.describe('Payload of the receipt. Its canonical JSON is what the leaf is made of.'),
});

export const ResultProofAnswer = ResultProofNoun.extend({
  inclusion: Inclusion.nullable().describe(ResultProofNoun.shape.inclusion.description ?? ''),
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
  refusal_code: z.enum(wordList(refusalCodes)),
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
  issuer_signature: IssuerSignatureNoun,
  verification: z.object({ jwks_uri: z.string(), issuer_history_uri: z.string(), how: z.string() }),
});

/** What the refused call itself is told: the signed refusal, and the problem beside it. */
export const RefusedCallAnswer = z.object({ ...Problem.shape, ...RefusalAnswer.shape });

nameComponents({
  TaskStatus: TaskStatusNoun,
  KeySet: KeySetAnswer,
  SettlementStatus: SettlementNoun,
  ProvenSettlement: SettlementProofNoun,
  LogInclusion: Inclusion,
  ResultProof: ResultProofAnswer,
  Refusal: RefusalAnswer,
  RefusedCall: RefusedCallAnswer,
});
