import { z } from 'zod';
import { AtomicMember, computedMember, MomentMember, onGraph, shownAsJson, word } from '../noun.ts';
import type { WordOf, Words } from '../words.ts';
import type { sessionTypes } from './typed-data.ts';

/* A delegated session as it is shown: its status, limits, revocation, and a nonce for one of its acts. */

export const sessionStates = {
  graph: 'SessionStatus',
  description: 'Whether a delegated session can be used, has expired or was revoked.',
  meanings: {
    active: 'The session is neither expired nor revoked. It can be used from `validAfter` on.',
    expired: 'The time until which the session was granted is over.',
    revoked:
      'The session or one above it was revoked, by its payer, by the payer of a session above it, or by the service together with all others.',
  },
} as const satisfies Words;
export type SessionStatus = WordOf<typeof sessionStates>;

const delegation_hash = z
  .string()
  .describe('Id of the session: the EIP-712 digest of its grant (0x and 64 hex digits).');
const status = word(sessionStates);

/** Members of a revocation. */
const revocation = {
  payer: z.string().describe('Wallet that signed the revocation. The payer of the session if it was not signed.'),
  at: z.int().describe('Time that was signed, in Unix seconds. Without a signature: time of the revocation.'),
  signature: z
    .string()
    .nullable()
    .describe(
      'Signature of the revocation as it was sent (0x and hex digits). Null if the service ended the session with all others, because its operator accepted a break of the log.',
    ),
  revoked_at: MomentMember.describe(
    'Time from which the session and all sessions below it are revoked (RFC 3339, UTC).',
  ),
} as const;

export const SessionRevocationNoun = z.object({
  delegation_hash,
  status: status.describe('Always `revoked`.'),
  ...revocation,
});

export const SessionDetailNoun = z
  .object({
    cap: onGraph(
      'capAtomic',
      AtomicMember.describe(
        'Highest amount that may be spent under the session and all sessions below it, in atomic USDC.',
      ),
    ),
    spent: onGraph(
      'spentAtomic',
      AtomicMember.describe(
        'Amount of the payments recorded under the session and all sessions below it, in atomic USDC.',
      ),
    ),
    held: onGraph(
      'heldAtomic',
      AtomicMember.describe(
        'Amount reserved for payments in progress under the session and all sessions below it, in atomic USDC.',
      ),
    ),
    remaining: onGraph(
      'remainingAtomic',
      AtomicMember.describe(
        'Amount that may still be spent, in atomic USDC: max(0, cap − spent − held). A payment must also fit within this amount of each session above.',
      ),
    ),
    models: z.array(z.string()).describe('Ids of the models that may answer. Empty: any model.'),
    doors: z.array(z.string()).describe('Names of the paid endpoints that may be called. Empty: any endpoint.'),
  })
  .describe('Limits of the session, and what was spent under it and all sessions below it.');

export const SessionNoun = z.object({
  delegation_hash,
  status: status.describe('State of the session: `active`, `expired` or `revoked`.'),
  payer: z.string().describe('Wallet whose payments are made under the session.'),
  agent_pubkey: z
    .string()
    .describe(
      'Public key of the agent that acts under the session: a point of secp256k1 (0x and 66 or 130 hex digits).',
    ),
  valid_after: z.int().describe('Time from which the session is valid, in Unix seconds.'),
  session_expiry: z.int().describe('Time from which the session is expired, in Unix seconds.'),
  parent_delegation_hash: z.string().nullable().describe('Id of the parent session. Null if the session has none.'),
  bound_at: MomentMember.describe('Time the first payment under the session was recorded (RFC 3339, UTC).'),
  path: z
    .array(z.string())
    .describe('Ids of all sessions above this one, the first granted first, and the id of this one last.'),
  ended_by: z
    .object({
      delegation_hash: z
        .string()
        .describe('Id of the session that was revoked (0x and 64 hex digits): this one, or one above it.'),
      ...revocation,
    })
    .nullable()
    .describe('Revocation that has ended the session: its own, or that of a session above it. Null if there is none.'),
  detail: SessionDetailNoun.nullable().describe(
    'Limits and spending of the session: amounts in atomic USDC, models and endpoints. Null unless the request proves possession of the book of the payer, or of the payer of a session above it. The agent of the session ' +
      'reads the same by the act `read_private` on the resource `session`.',
  ),
});

/** Members that a session of a tree has on the graph in addition. */
export const SessionNodeNoun = SessionDetailNoun.extend({
  depth: z.int().describe('Levels below the session that `sessionTree` names. Always 0 for `agentSessions`.'),
  burn_position: z
    .int()
    .describe(
      'Position of the newest payment that the amounts include, from 1; 0 if there is none. Pass it to `sessionBurn` as `after`.',
    ),
});

/** A payment that was recorded under a session, or under one below it. */
export const SessionBurnNoun = z.object({
  position: z
    .int()
    .describe('Position among the payments of the session that the request names: from 1, without gaps.'),
  task_id: z.string().describe('Task id of the receipt of the payment.'),
  paid_under: z.string().describe('Id of the session under which the payment was made (0x and 64 hex digits).'),
  amount_atomic: AtomicMember.describe(
    'Amount of the payment, in atomic USDC. It counts under the session `paidUnder` and each session above that one.',
  ),
  spent_atomic: AtomicMember.describe(
    'Amount recorded under the session that the request names, including this payment, in atomic USDC.',
  ),
  path: z.array(z.string()).describe('Ids of the sessions from the one that the request names down to `paidUnder`.'),
});

/** Sessions of an agent. `sessionTree` has the same page in another order. */
export const SessionListNoun = z.object({
  sessions: computedMember(
    z
      .array(SessionNoun.extend({ detail: SessionDetailNoun }))
      .describe('Sessions that a payment has bound and that are not children of other sessions, newest first.'),
  ),
  truncated: z.boolean().describe('True if there are more sessions after this page.'),
  next_cursor: z.string().nullable().describe('`cursor` of the next page. Null if this is the last page.'),
});

/** Sessions of such a page on the graph. */
export const SessionNodes = z.object({
  sessions: z
    .array(SessionNodeNoun)
    .describe('For `sessionTree`, parents before children and the root first. For `agentSessions`, the newest first.'),
});

const TypedMember = z.object({
  name: z.string().describe('Name of the member, such as `payer`.'),
  type: z.string().describe('EIP-712 type of the member, such as `address`.'),
});
export const SessionTypesShape = z.object({
  AuthorizeSession: z.array(TypedMember).describe('Members that a grant signs, in order.'),
  SessionAct: z.array(TypedMember).describe('Members that an act signs, in order.'),
  RevokeSession: z.array(TypedMember).describe('Members that a revocation signs, in order.'),
} satisfies Record<keyof typeof sessionTypes, z.ZodType>);

export const SessionDomainShape = z.object({
  name: z.string().describe('Name of the domain: `svc.session`.'),
  version: z.string().describe('Version of the domain: `2`.'),
  chainId: z.int().describe('EIP-155 id of the chain: 8453, Base.'),
  salt: z
    .string()
    .describe(
      'SHA-256 (0x and 64 hex digits) of the base URL of this service in UTF-8. The base URL is the `iss` of its receipts.',
    ),
});

/** A nonce for one act. */
export const SessionChallengeNoun = z.object({
  challenge_id: z.string().describe('Id of the challenge. Send it with the act in place of nonce and deadline.'),
  nonce: z.string().describe('Nonce to sign in the act: 0x and 64 hex digits.'),
  issued_at: z.int().describe('Time the challenge was issued, in Unix seconds.'),
  deadline: z.int().describe('`deadline` to sign in the act, in Unix seconds. From then on the act is refused.'),
  typed_data: shownAsJson(
    z
      .object({
        domain: SessionDomainShape.describe('EIP-712 domain to sign under.'),
        types: SessionTypesShape.describe('EIP-712 types, each a list of its members.'),
        primaryType: z.literal('SessionAct').describe('Type that is signed. Always `SessionAct`.'),
      })
      .describe('EIP-712 `domain`, `types` and `primaryType` for signing the act. The caller builds the message.'),
  ),
});
