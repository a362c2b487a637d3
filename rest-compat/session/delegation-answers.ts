import { z } from 'zod';
import { actActions } from '../../schema/session/act.ts';
import { sessionTypes } from '../../schema/session/typed-data.ts';
import { Atomic, JsonMembers, nameComponents } from '../answer-shapes.ts';

const TypedMember = z.object({ name: z.string(), type: z.string() });
const Types = z.object({
  AuthorizeSession: z.array(TypedMember),
  SessionAct: z.array(TypedMember),
  RevokeSession: z.array(TypedMember),
} satisfies Record<keyof typeof sessionTypes, z.ZodType>);
const Domain = z.object({
  name: z.string(),
  version: z.string(),
  chainId: z.int(),
  salt: z
    .string()
    .describe(
      'SHA-256 (0x and 64 hex digits) of the base URL of this service in UTF-8. The base URL is the `iss` of its receipts.',
    ),
});

export const SessionTypesAnswer = z
  .object({
    domain: Domain.describe('Domain that grants, acts and revocations are signed under.'),
    former_domains: z
      .array(Domain)
      .describe('Domains of base URLs that the service had before. Signatures under one of them are still valid.'),
    types: Types,
    doors: z
      .array(z.object({ name: z.string(), path: z.string() }))
      .describe(
        'Names that `doors` of a grant can hold: the names of the paid endpoints, which are also those of their tools. A name is valid by ' +
          'REST, MCP, A2A and GraphQL, and for both payments of a job.',
      ),
  })
  .describe(
    'EIP-712 typed data, in the form that wallets take. The digest of an AuthorizeSession is the delegation_hash of its session. A session that was bound ' +
      'under version 1 of the domain, which has no salt, pays until it expires and can be revoked under either version; its acts ' +
      'are signed under this one.',
  );

const status = z.enum(['active', 'expired', 'revoked']);
const delegation_hash = z.string().describe('The EIP-712 digest of the grant, 0x.');

/** What was signed, and when it came to hold. */
const revocation = {
  payer: z.string().describe('Wallet that signed it; the payer of the session if nobody did.'),
  at: z.int().describe('Time that was signed, in Unix seconds; without a signature, when it was revoked.'),
  signature: z
    .string()
    .nullable()
    .describe(
      'Null if the service ended the session with all others, because its operator accepted a break of the log.',
    ),
  revoked_at: z.iso.datetime().describe('Since when it holds, for it and all below it.'),
} as const;

const models = z.array(z.string()).describe('Ids of the models that may answer. Empty: any model.');
const doors = z.array(z.string()).describe('Names of the paid endpoints that may be called. Empty: any endpoint.');
const Detail = z
  .object({
    cap: Atomic.describe('Cap in atomic USDC on what may be spent under it and below it.').meta({ graph: 'capAtomic' }),
    spent: Atomic.describe('Amount of recorded payments, in atomic USDC.').meta({ graph: 'spentAtomic' }),
    held: Atomic.describe('Amount that payments in progress hold, in atomic USDC.').meta({ graph: 'heldAtomic' }),
    remaining: Atomic.describe(
      'max(0, cap − spent − held), in atomic USDC. A payment must also fit within this value of each session above.',
    ).meta({ graph: 'remainingAtomic' }),
    models,
    doors,
  })
  .describe('Limits of the session, and what is spent under it and all sessions below it.');

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
  detail: Detail.nullable().describe(
    'Limits and spending. Null unless the request proves possession of the book of the payer, or of the payer of a session above it. The agent of the session ' +
      'reads the same by the act `read_private` on the resource `session`.',
  ),
});

export const SessionListAnswer = z.object({
  sessions: z
    .array(SessionAnswer.extend({ detail: Detail }))
    .describe('Sessions that a payment has bound and that are not children of other sessions, newest first.'),
  truncated: z.boolean().describe('True if there are more sessions after this page.'),
  next_cursor: z.string().nullable().describe('`cursor` of the next page. Null if this is the last page.'),
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
    .describe('Of a handoff: the child receipt, of no payment and no amount.')
    .meta({ graph: 'handedOff' }),
  redeemed: z
    .object({ task_id: z.string(), agent_id: z.int().nullable() })
    .nullable()
    .describe('Of a redeem: whose claim is closed, and on whose book its row stands since.'),
  approved: z
    .object({ approval_id: z.string(), agent_id: z.int(), request_hash: z.string() })
    .nullable()
    .describe('Of an approve: the request that was answered. The very same call passes once, within its time.'),
  read: JsonMembers.nullable().describe(
    'What a `read_private` has read: {entries, truncated, next}, {format, document, truncated, next}, the receipt, or the session. Null for any other act. If `truncated` is true, the session has older rows; `next` is the `payload.before` of the act that reads them.',
  ),
});

export const SessionRevocationAnswer = z.object({
  delegation_hash,
  status,
  ...revocation,
});

nameComponents({
  SessionTypes: SessionTypesAnswer,
  DelegatedSession: SessionAnswer,
  DelegatedSessionList: SessionListAnswer,
  SessionChallenge: ChallengeAnswer,
  SessionAct: ActAnswer,
  SessionRevocation: SessionRevocationAnswer,
});
