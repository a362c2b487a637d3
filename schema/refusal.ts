import { z } from 'zod';
import { documents } from './documents.ts';
import { AtomicMember, type DocumentOf, onGraph, TimeMember, word, wordText } from './noun.ts';
import { policyCodeWords } from './policy.ts';
import { refusalCodes } from './policy-rule.ts';
import { IssuerSignatureNoun, VerificationNoun } from './receipt-shapes.ts';

/* A signed refusal: its signed payload, and the document around it. It is neither a receipt nor spend. */

const BaseAnchorNoun = z.discriminatedUnion('status', [
  z.object({
    status: z.literal('AVAILABLE').describe('Always `AVAILABLE`.'),
    block_number: z.int().describe('Number of the newest block of Base that the issuer had seen.'),
    block_hash: z.string().describe('Hash of the block with `block_number` (0x and 64 hex digits).'),
    state_root: z
      .string()
      .optional()
      .describe(
        'State root of the block with `block_number` (0x and 64 hex digits). Null or absent if the node does not state it.',
      ),
  }),
  z.object({
    status: z.literal('UNAVAILABLE').describe('Always `UNAVAILABLE`: the issuer had seen no recent block of Base.'),
  }),
]);
export type BaseAnchor = DocumentOf<typeof BaseAnchorNoun>;

/** The signed payload. It contains no total and no cap, because only the owner of the book may know them. */
export const RefusalPayloadNoun = z.object({
  schema: z.literal(documents.refusal).describe(`Always \`${documents.refusal}\`.`),
  refusal_id: z.string().describe('Id of the refusal.'),
  chain_id: z.int().describe('Chain id of Base (EIP-155).'),
  base_anchor: BaseAnchorNoun.describe(
    'Newest block of Base that the issuer had seen when it refused. Its status is `UNAVAILABLE` if it had seen none recently.',
  ),
  refusal_code: word(refusalCodes).describe(
    'Why the issuer refused the call: `policy_blocked`, `budget_exhausted` or `approval_ttl_expired`.',
  ),
  policy_code: wordText(policyCodeWords).describe(
    'Rule of the book that refused the call, as a code, such as `daily_cap_exceeded`.',
  ),
  nonce: z.string().describe('16 random bytes, in hex.'),
  timestamp: onGraph(
    'issuedAt',
    TimeMember.describe('Time of the refusal, by the clock of the database (RFC 3339, UTC).'),
  ),
  agent_id: z.int().describe('Id of the agent whose book refused the call.'),
  book_id: z.int().describe('Id of the book: the same number as `agent_id`.'),
  task_id: z.string().describe('Task id of the call that was refused, and of its row.'),
  requested_amount: AtomicMember.optional().describe(
    'Amount that the call would have cost, in atomic USDC. Null or absent if an API key was used in place of a payment, and for an act of a session, which costs nothing.',
  ),
  policy_blocked_seq: z.int().describe('The seq of the row that records the refusal.'),
  charged: z.literal(false).describe('Always false: a refused call is not charged.'),
  profile: z
    .literal('development')
    .optional()
    .describe('`development` if stand-ins were in use. Null or absent in production.'),
});
export type RefusalPayload = DocumentOf<typeof RefusalPayloadNoun>;

/** The public refusal. */
export const RefusalNoun = RefusalPayloadNoun.extend({
  refusal_url: z.string().describe('URL of the public page of the refusal.'),
  issuer_signature: IssuerSignatureNoun.describe('Signature of the issuer: a JWS (ES256) in `jws`.'),
  verification: VerificationNoun.describe(
    'How to verify the refusal: URLs of the keys and of their history, and the steps.',
  ),
});

/** The members of a refusal that are separate fields on the graph. */
export const RefusalNodeNoun = RefusalPayloadNoun.pick({
  refusal_id: true,
  agent_id: true,
  policy_blocked_seq: true,
  task_id: true,
  refusal_code: true,
  policy_code: true,
  timestamp: true,
}).extend({ jws: IssuerSignatureNoun.shape.jws, kid: IssuerSignatureNoun.shape.kid });
