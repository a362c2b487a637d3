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

/* Endpoints of delegated sessions, and the typed data that sessions sign. */

const SessionTypesAnswer = z
  .object({
    domain: SessionDomainShape.describe('EIP-712 domain under which grants, acts and revocations are signed.'),
    former_domains: z
      .array(SessionDomainShape)
      .describe('Domains of base URLs that the service had before. Signatures under one of them are still valid.'),
    types: SessionTypesShape.describe(
      'EIP-712 types that are signed: AuthorizeSession, SessionAct and RevokeSession, each a list of its members.',
    ),
    doors: z
      .array(
        z.object({
          name: z.string().describe('Name of the endpoint, as a grant lists it.'),
          path: z.string().describe('Path of the endpoint, such as `/v1/chat/completions`.'),
        }),
      )
      .describe(
        'Endpoints that `doors` of a grant can name: the paid endpoints, by the names of their tools. A name applies to REST, MCP, A2A ' +
          'and GraphQL, and to both payments of a job.',
      ),
  })
  .describe(
    'EIP-712 typed data, in the form that wallets accept. The digest of an AuthorizeSession is the delegation_hash of its session. A session under ' +
      'version 1 of the domain, which has no salt, is valid until it expires and can be revoked under either version; its acts ' +
      'are signed under this version.',
  );

nameComponents({
  SessionTypes: SessionTypesAnswer,
  DelegatedSession: SessionNoun,
  DelegatedSessionList: SessionListNoun,
  SessionChallenge: SessionChallengeNoun,
  SessionAct: SessionActNoun,
  SessionRevocation: SessionRevocationNoun,
});

/** If no payment was made under a session, only its grant states its payer. */
const GrantHeader = z.object({
  'x-svc-delegation': z
    .string()
    .max(sessionLimits.delegation_header_chars_max)
    .optional()
    .describe(
      'Grant of the session: base64url of the JSON {grant, signature}, as it is sent with a payment. Required if no payment was made under the session.',
    ),
});
const PATH = '/v1/sessions/{delegation_hash}';
const tags = ['sessions'];

export const delegationDoors = [
  documentDoor({
    name: 'get_session_types',
    methods: ['GET'],
    path: '/v1/sessions/types',
    summary:
      'Get the EIP-712 domain and types that delegated sessions sign, and the endpoint names that a grant may allow',
    tags,
    field: 'sessionTypes',
    response: SessionTypesAnswer,
  }),
  documentDoor({
    name: 'get_session',
    methods: ['GET'],
    path: PATH,
    summary: "Get the status of a delegated session and, with the session of its payer's book, its limits and spend",
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
    summary: "List the sessions that the agent's wallet has granted directly, with their limits and spend",
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
    summary: `Get a nonce for one act of a session, valid ${sessionLimits.challenge_seconds_min / 60} to ${sessionLimits.challenge_seconds_max / 60} minutes; stores nothing`,
    tags,
    field: 'sessionChallenge',
    params: SessionPath,
    body: SessionChallengeRequest,
    response: SessionChallengeNoun,
    errors: ['not_found', 'session_not_active'],
  }),
  documentDoor({
    name: 'act_in_session',
    idempotent: true,
    methods: ['POST'],
    path: `${PATH}/act`,
    summary: 'Carry out, once, an act that the key of a session has signed: handoff, read_private, redeem or approve',
    tags,
    // A contract wallet signs no act, but the body is as long as the longest signature that is read.
    body_bytes_max: 2 * limits.small_request_bytes_max,
    field: 'actInSession',
    params: SessionPath,
    body: ActRequest,
    response: SessionActNoun,
    /** A refusal by the payer's book, or the reason that the session does not allow the act. */
    refusal: z.union([RefusedCallAnswer, Problem]),
    errors: [
      'forbidden',
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
    idempotent: true,
    methods: ['POST'],
    path: `${PATH}/revoke`,
    summary: 'Revoke a session and all sessions below it, signed by its payer or the payer of a session above it',
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
