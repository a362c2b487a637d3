import { z } from 'zod';
import { limits, sessionLimits } from '../../schema/limits.ts';
import {
  ActRequest,
  RevocationRequest,
  RootSessionsPage,
  SessionChallengeRequest,
  SessionPath,
} from '../../schema/requests/session.ts';
import { SessionActNoun } from '../../schema/session/act-result.ts';
import {
  SessionChallengeNoun,
  SessionDomainShape,
  SessionListNoun,
  SessionNoun,
  SessionRevocationNoun,
  SessionTypesShape,
} from '../../schema/session/delegated-session.ts';
import { nameComponents, Problem } from '../answer-shapes.ts';
import { AgentPath } from '../book/doors.ts';
import { documentDoor } from '../door.ts';
import { RefusedCallAnswer } from '../receipt/answers.ts';
import { queryOf } from '../text-members.ts';

/* What delegated sessions sign, as it is published, beside the nouns of sessions and acts. */

const SessionTypesAnswer = z
  .object({
    domain: SessionDomainShape.describe('Domain that grants, acts and revocations are signed under.'),
    former_domains: z
      .array(SessionDomainShape)
      .describe('Domains of base URLs that the service had before. Signatures under one of them are still valid.'),
    types: SessionTypesShape,
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

nameComponents({
  SessionTypes: SessionTypesAnswer,
  DelegatedSession: SessionNoun,
  DelegatedSessionList: SessionListNoun,
  SessionChallenge: SessionChallengeNoun,
  SessionAct: SessionActNoun,
  SessionRevocation: SessionRevocationNoun,
});

/** Where no payment was made under it, the grant alone says whose it is. */
const GrantHeader = z.object({
  'x-svc-delegation': z
    .string()
    .max(sessionLimits.delegation_header_chars_max)
    .optional()
    .describe('Grant of a session that no payment has bound, as it is sent beside a payment.'),
});
const PATH = '/v1/sessions/{delegation_hash}';
const tags = ['sessions'];

export const delegationDoors = [
  documentDoor({
    name: 'get_session_types',
    methods: ['GET'],
    path: '/v1/sessions/types',
    summary:
      'What delegated sessions sign: EIP-712 domain and types; the names of the endpoints that a grant may allow',
    tags,
    field: 'sessionTypes',
    response: SessionTypesAnswer,
  }),
  documentDoor({
    name: 'get_session',
    methods: ['GET'],
    path: PATH,
    summary: 'Status of a delegated session; for its payer also its limits and what is spent under it',
    tags,
    possession: 'offered',
    unkept_for_holders: true,
    field: 'delegatedSession',
    params: SessionPath,
    response: SessionNoun,
    errors: ['not_found', 'forbidden'],
  }),
  documentDoor({
    name: 'list_sessions',
    methods: ['GET'],
    path: '/v1/agents/{agent_id}/sessions',
    summary: 'Sessions that the agentWallet has granted directly, with their limits and what is spent under them',
    tags,
    possession: 'required',
    field: 'agentSessions',
    params: AgentPath,
    query: queryOf(RootSessionsPage),
    response: SessionListNoun,
  }),
  documentDoor({
    name: 'challenge_session',
    effect: 'adds',
    methods: ['POST'],
    path: `${PATH}/challenge`,
    summary: `A nonce for an act, valid for ${sessionLimits.challenge_seconds_min / 60} to ${sessionLimits.challenge_seconds_max / 60} minutes; writes nothing`,
    tags,
    field: 'sessionChallenge',
    params: SessionPath,
    body: SessionChallengeRequest,
    response: SessionChallengeNoun,
    errors: ['not_found', 'session_not_active'],
  }),
  documentDoor({
    name: 'act_in_session',
    methods: ['POST'],
    path: `${PATH}/act`,
    summary: "Does, once, what a session's key has signed for: handoff, read_private, redeem, approve",
    tags,
    // A contract wallet signs no act, but the body is as long as the longest signature that is read.
    body_bytes_max: 2 * limits.small_request_bytes_max,
    field: 'actInSession',
    params: SessionPath,
    body: ActRequest,
    response: SessionActNoun,
    /** The book of its payer's, or the word why the act is none of this session. */
    refusal: z.union([RefusedCallAnswer, Problem]),
    errors: [
      'payload_mismatch',
      'act_expired',
      'act_signature_invalid',
      'session_not_active',
      'approval_ttl_expired',
      'not_found',
      'act_nonce_used',
      'already_handed_off',
      'handed_off_too_often',
      'claim_already_settled',
      'approval_closed',
      'book_damaged',
    ],
  }),
  documentDoor({
    name: 'revoke_session',
    methods: ['POST'],
    path: `${PATH}/revoke`,
    summary: 'End a session and all below it, by the signature of its payer or of one over it',
    tags,
    body_bytes_max: 2 * limits.small_request_bytes_max,
    field: 'revokeSession',
    params: SessionPath,
    headers: GrantHeader,
    body: RevocationRequest,
    response: SessionRevocationNoun,
    errors: ['forbidden', 'revocation_invalid', 'delegation_invalid', 'not_found', 'chain_unavailable'],
  }),
] as const;
