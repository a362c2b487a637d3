import { z } from 'zod';
import { actActions } from '../../schema/session/act.ts';
import { sessionTypes } from '../../schema/session/typed-data.ts';
import { JsonMembers, nameComponents } from '../answer-shapes.ts';

const TypedMember = z.object({ name: z.string(), type: z.string() });
const Types = z.object({
  AuthorizeSession: z.array(TypedMember),
  SessionAct: z.array(TypedMember),
  RevokeSession: z.array(TypedMember),
} satisfies Record<keyof typeof sessionTypes, z.ZodType>);
const Domain = z.object({ name: z.string(), version: z.string(), chainId: z.int() });

export const SessionTypesAnswer = z
  .object({ domain: Domain, types: Types })
  .describe('EIP-712, as a wallet takes it. The digest of an AuthorizeSession is the delegation_hash of its session.');

const status = z.enum(['active', 'expired', 'revoked']);
const delegation_hash = z.string().describe('The EIP-712 digest of the grant, 0x.');

/** What was signed, and when it came to hold. */
const revocation = {
  payer: z.string().describe('Who has signed it.'),
  at: z.int().describe('The time that was signed, Unix seconds.'),
  signature: z.string(),
  revoked_at: z.iso.datetime().describe('Since when it holds, for it and all below it.'),
} as const;

export const SessionAnswer = z.object({
  delegation_hash,
  status,
  payer: z.string().describe('Whose payments are made under it.'),
  agent_pubkey: z.string().describe('The key that acts under it.'),
  valid_after: z.int().describe('Unix seconds.'),
  session_expiry: z.int().describe('Unix seconds; from then on it is over.'),
  parent_delegation_hash: z.string().nullable().describe('Of the session that it is a child of.'),
  bound_at: z.iso.datetime().describe('When the first payment under it was recorded.'),
  path: z.array(z.string()).describe('Of all that stand over it, the root first, and its own last.'),
  ended_by: z
    .object({
      delegation_hash: z.string().describe('The session itself, or the one over it that was revoked.'),
      ...revocation,
    })
    .nullable()
    .describe('The revocation that has ended it, as /.well-known/revocations has it; null where none has.'),
});

export const ChallengeAnswer = z.object({
  challenge_id: z.string().describe('Shown in the act in place of nonce and deadline.'),
  nonce: z.string().describe('To be signed.'),
  issued_at: z.int().describe('Unix seconds.'),
  deadline: z.int().describe('To be signed: Unix seconds, from which on it serves no more.'),
  typed_data: z
    .object({ domain: Domain, types: Types, primaryType: z.literal('SessionAct') })
    .describe('What is signed: EIP-712.'),
});

export const ActAnswer = z.object({
  action: z.enum(actActions),
  resource: z.string(),
  delegation_hash,
  receipt: z
    .object({ task_id: z.string(), verify_url: z.string(), parent_receipt_id: z.string(), target_agent: z.int() })
    .nullable()
    .describe('Of a handoff: the child receipt, of no payment and no amount.'),
  redeemed: z
    .object({ task_id: z.string(), agent_id: z.int().nullable() })
    .nullable()
    .describe('Of a redeem: whose claim is closed, and on whose book its row stands since.'),
  approved: z
    .object({ approval_id: z.string(), agent_id: z.int(), request_hash: z.string() })
    .nullable()
    .describe('Of an approve: the request that was answered. The very same call passes once, within its time.'),
  read: JsonMembers.nullable().describe('Of a read_private: {entries}, {format, document}, or the receipt.'),
});

export const SessionRevocationAnswer = z.object({
  delegation_hash,
  status,
  ...revocation,
});

nameComponents({
  SessionTypes: SessionTypesAnswer,
  DelegatedSession: SessionAnswer,
  SessionChallenge: ChallengeAnswer,
  SessionAct: ActAnswer,
  SessionRevocation: SessionRevocationAnswer,
});
