import { z } from 'zod';
import { Refusal } from '../../schema/errors.ts';
import { IssuerSnapshotRequest } from '../../schema/requests/receipt.ts';
import { RevocationsPage } from '../../schema/requests/session.ts';
import { ServiceStatsNoun } from '../../schema/result-proof.ts';
import { JsonMembers } from '../answer-shapes.ts';
import { documentDoor, pageDoor } from '../door.ts';
import { agentCard, LEGACY_CARD_PATH, legacyAgentCard } from '../faces/a2a/card.ts';
import { openApi } from '../faces/openapi.ts';
import { x402Manifest } from '../faces/x402-manifest.ts';
import { KeySetAnswer } from '../receipt/answers.ts';
import { queryOf } from '../text-members.ts';
import { HealthAnswer, LivenessAnswer, ManifestAnswer, ReadyAnswer, RevocationsAnswer } from './answers.ts';
import {
  AgentCardAnswer,
  IssuerHistoryAnswer,
  LegacyAgentCardAnswer,
  LogBreaksAnswer,
  PolicyHistoryAnswer,
} from './signed-answers.ts';

/**
 * Keys and policies are cached for a minute. A key signs as soon as all processes publish it, so a client that meets an unknown key has to
 * revalidate. Nothing here is immutable, because an older snapshot states when it was retired.
 */
const KEPT_A_MINUTE = 'public, max-age=60';

/** Changes only with a new release or configuration. */
export const KEPT_FIVE_MINUTES = 'public, max-age=300';

/** A declared break of the log has to be known at once: caches may store it, but must revalidate each time. */
const ASKED_EACH_TIME = 'public, no-cache';

const NOT_READY = 'Not ready to take paid calls.';

export const discoveryDoors = [
  documentDoor({
    name: 'get_jwks',
    methods: ['GET'],
    path: '/.well-known/jwks.json',
    summary: "Get the issuer's public keys (JWKS)",
    tags: ['discovery'],
    // Clients append parameters to bypass caches.
    query: z.object({}),
    field: 'jwks',
    cache: KEPT_A_MINUTE,
    response: KeySetAnswer,
  }),
  documentDoor({
    name: 'get_did_document',
    methods: ['GET'],
    path: '/.well-known/did.json',
    // did:web looks here for a service whose base URL has a path.
    aliases: ['/did.json'],
    summary: 'Get the did:web document of the service, with the keys that sign its x402 offers and receipts',
    tags: ['discovery'],
    media: 'application/did+json; charset=utf-8',
    field: 'didDocument',
    cache: KEPT_A_MINUTE,
    response: JsonMembers,
  }),
  documentDoor({
    name: 'get_issuer_history',
    methods: ['GET'],
    path: '/.well-known/issuer-history.json',
    summary: "Get the append-only history of the issuer's keys, or an older snapshot by version or hash",
    tags: ['discovery'],
    field: 'issuerHistory',
    cache: KEPT_A_MINUTE,
    query: queryOf(IssuerSnapshotRequest),
    response: IssuerHistoryAnswer,
    errors: ['not_found'],
  }),
  documentDoor({
    name: 'get_receipt_policy_history',
    methods: ['GET'],
    path: '/.well-known/receipt-policy-history.json',
    summary: 'Get the append-only history of the receipt policies',
    tags: ['discovery'],
    field: 'receiptPolicyHistory',
    cache: KEPT_A_MINUTE,
    response: PolicyHistoryAnswer,
  }),
  documentDoor({
    name: 'get_revocations',
    methods: ['GET'],
    path: '/.well-known/revocations',
    summary: "List the issuer's retired and revoked keys, and the revoked delegated sessions",
    tags: ['discovery'],
    field: 'revocations',
    cache: KEPT_A_MINUTE,
    query: queryOf(RevocationsPage),
    response: RevocationsAnswer,
  }),
  documentDoor({
    name: 'get_stats',
    methods: ['GET'],
    path: '/stats',
    summary: 'Get the number of receipts, as a coarse range',
    tags: ['discovery'],
    field: 'stats',
    cache: KEPT_A_MINUTE,
    response: ServiceStatsNoun,
  }),
  documentDoor({
    name: 'get_log_breaks',
    methods: ['GET'],
    path: '/.well-known/log-breaks.json',
    summary: 'List the declared and signed breaks of the receipt log',
    tags: ['discovery'],
    field: 'logBreaks',
    cache: ASKED_EACH_TIME,
    response: LogBreaksAnswer,
  }),
  pageDoor({
    name: 'get_x402_manifest',
    methods: ['GET'],
    path: '/.well-known/x402',
    summary: 'List all paid endpoints with their prices',
    tags: ['discovery'],
    page: ({ doors, port }) => x402Manifest(doors, port),
    is_constant: true,
    cache: KEPT_FIVE_MINUTES,
    response: ManifestAnswer,
  }),
  pageDoor({
    name: 'get_agent_card',
    methods: ['GET'],
    path: '/.well-known/agent-card.json',
    summary: "Get the A2A agent card of the service, signed with the issuer's key",
    tags: ['discovery'],
    page: ({ doors, port }) => agentCard(doors, port),
    is_constant: true,
    cache: KEPT_FIVE_MINUTES,
    response: AgentCardAnswer,
  }),
  pageDoor({
    name: 'get_legacy_agent_card',
    methods: ['GET'],
    path: LEGACY_CARD_PATH,
    summary: 'Get the agent card in the form of A2A 0.3',
    tags: ['discovery'],
    page: ({ doors, port }) => legacyAgentCard(doors, port),
    is_constant: true,
    cache: KEPT_FIVE_MINUTES,
    response: LegacyAgentCardAnswer,
  }),
  pageDoor({
    name: 'get_openapi',
    methods: ['GET'],
    path: '/openapi.json',
    summary: 'Get the OpenAPI 3.1 description of this interface',
    tags: ['discovery'],
    page: ({ doors, port }) => openApi(doors, port.base_url),
    is_constant: true,
    cache: KEPT_FIVE_MINUTES,
    response: JsonMembers,
  }),
  pageDoor({
    name: 'get_health',
    methods: ['GET'],
    path: '/health',
    summary: 'Get the health of the service',
    tags: ['discovery'],
    page: ({ port }) => port.health(),
    response: HealthAnswer,
  }),
  pageDoor({
    name: 'get_liveness',
    methods: ['GET'],
    path: '/livez',
    rated: false,
    summary: 'Check whether the process answers, without checking what it depends on',
    tags: ['discovery'],
    page: () => ({ status: 'ok' }),
    response: LivenessAnswer,
  }),
  pageDoor({
    name: 'get_readiness',
    methods: ['GET'],
    path: '/readyz',
    rated: false,
    summary: 'Check whether the service can take paid calls; a 503 response names what is unavailable',
    tags: ['discovery'],
    async page({ port }) {
      const away = await port.away();
      if (away.length > 0) throw new Refusal('unavailable', { detail: NOT_READY, facts: { away: [...away] } });
      return { status: 'ok', without: [...port.without()] };
    },
    response: ReadyAnswer,
    errors: ['unavailable'],
  }),
] as const;
