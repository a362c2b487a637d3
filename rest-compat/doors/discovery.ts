import { z } from 'zod';
import { Refusal } from '../../schema/errors.ts';
import { Health, Lives, Manifest, Ready } from '../answers/discovery.ts';
import { JsonMembers, KeySet } from '../answers/receipt.ts';
import { digits } from '../digits.ts';
import { operation } from '../document.ts';
import { documentDoor, pageDoor } from '../door.ts';
import { openApi } from '../openapi.ts';
import { x402Manifest } from '../x402-manifest.ts';

const NOT_READY = 'Not ready to take paid calls.';

export const discoveryDoors = [
  documentDoor({
    name: 'get_jwks',
    methods: ['GET'],
    path: '/.well-known/jwks.json',
    summary: "The issuer's public keys",
    tags: ['discovery'],
    document: operation('get_jwks'),
    response: KeySet,
  }),
  documentDoor({
    name: 'get_did_document',
    methods: ['GET'],
    path: '/.well-known/did.json',
    // did:web looks there for a service that lies under a path of its host.
    aliases: ['/did.json'],
    summary: "The service's did:web document: the keys of its signed offers and receipts in x402",
    tags: ['discovery'],
    media: 'application/did+json; charset=utf-8',
    document: operation('get_did_document'),
    response: JsonMembers,
  }),
  documentDoor({
    name: 'get_issuer_history',
    methods: ['GET'],
    path: '/.well-known/issuer-history.json',
    summary: 'Append-only history of issuer keys; older snapshots by version or hash',
    tags: ['discovery'],
    document: operation('get_issuer_history'),
    query: z.object({
      version: digits(
        z
          .int()
          .min(1)
          .max(2 ** 31 - 1),
      ).optional(),
      hash: z
        .string()
        .regex(/^[0-9a-f]{64}$/)
        .optional(),
    }),
    variables: ({ query }) => ({ version: query.version ?? null, hash: query.hash ?? null }),
    response: JsonMembers,
    errors: ['not_found'],
  }),
  documentDoor({
    name: 'get_receipt_policy_history',
    methods: ['GET'],
    path: '/.well-known/receipt-policy-history.json',
    summary: 'Append-only history of the policies that govern receipts',
    tags: ['discovery'],
    document: operation('get_receipt_policy_history'),
    response: JsonMembers,
  }),
  documentDoor({
    name: 'get_log_breaks',
    methods: ['GET'],
    path: '/.well-known/log-breaks.json',
    summary: 'Breaks of the receipt log that were declared and signed',
    tags: ['discovery'],
    document: operation('get_log_breaks'),
    response: z.array(JsonMembers),
  }),
  pageDoor({
    name: 'get_x402_manifest',
    methods: ['GET'],
    path: '/.well-known/x402',
    summary: 'Every paid route with its price',
    tags: ['discovery'],
    page: ({ doors, port }) => x402Manifest(doors, port),
    response: Manifest,
  }),
  pageDoor({
    name: 'get_openapi',
    methods: ['GET'],
    path: '/openapi.json',
    summary: 'This interface as OpenAPI 3.1',
    tags: ['discovery'],
    page: ({ doors, port }) => openApi(doors, port.base_url),
    response: JsonMembers,
  }),
  pageDoor({
    name: 'get_health',
    methods: ['GET'],
    path: '/health',
    summary: 'Whether the service is well',
    tags: ['discovery'],
    page: ({ port }) => port.health(),
    response: Health,
  }),
  pageDoor({
    name: 'get_liveness',
    methods: ['GET'],
    path: '/livez',
    rated: false,
    summary: 'Whether the process answers; asks nothing of what it stands on',
    tags: ['discovery'],
    page: () => ({ status: 'ok' }),
    response: Lives,
  }),
  pageDoor({
    name: 'get_readiness',
    methods: ['GET'],
    path: '/readyz',
    rated: false,
    summary: 'Whether it can take paid calls; 503 names what is away',
    tags: ['discovery'],
    async page({ port }) {
      const away = await port.away();
      if (away.length > 0) throw new Refusal('unavailable', { detail: NOT_READY, facts: { away: [...away] } });
      return { status: 'ok', without: [...port.without()] };
    },
    response: Ready,
    errors: ['unavailable'],
  }),
] as const;
