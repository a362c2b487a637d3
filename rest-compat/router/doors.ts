import { isJsonObject } from '../../schema/canonical-json.ts';
import { BroadcastRequest, RouterBookPath, RouterBookRequest, RouterKeyRequest } from '../../schema/requests/router.ts';
import {
  BroadcastGenerationNoun,
  KeptRouterKeyNoun,
  OpenedRouterBookNoun,
  RouterBookSummaryNoun,
  RouterRailSumNoun,
} from '../../schema/router/book.ts';
import { nameComponents } from '../answer-shapes.ts';
import { documentDoor } from '../door.ts';

// With the names of the graph.
nameComponents({
  OpenedRouterBook: OpenedRouterBookNoun,
  KeptRouterKey: KeptRouterKeyNoun,
  BroadcastGeneration: BroadcastGenerationNoun,
  RouterRailSum: RouterRailSumNoun,
  RouterBookSummary: RouterBookSummaryNoun,
});

/** Generations of a third-party router with its users' own keys: reported here and receipted, but settled elsewhere. */
export const routerDoors = [
  documentDoor({
    name: 'open_router_book',
    effect: 'adds',
    tool: { none: 'returns_secret' },
    methods: ['POST'],
    path: '/v1/router/books',
    summary: 'Open a router book; the response shows once the key that reports generations to it',
    tags: ['router'],
    possession: 'offered',
    status: 201,
    field: 'openRouterBook',
    body: RouterBookRequest,
    response: OpenedRouterBookNoun,
    // 401 if the body names an agent and the request lacks that agent's session.
    errors: ['unauthenticated'],
  }),
  documentDoor({
    name: 'set_router_key',
    tool: { none: 'needs_secret' },
    methods: ['PUT'],
    path: '/v1/router/books/{book_id}/router-key',
    summary: "Store the third-party router's API key of a router book, encrypted, in place of an earlier one",
    tags: ['router'],
    ingest_key: 'required',
    field: 'setRouterKey',
    params: RouterBookPath,
    body: RouterKeyRequest,
    response: KeptRouterKeyNoun,
  }),
  documentDoor({
    name: 'broadcast_generation',
    effect: 'adds',
    tool: { none: 'needs_secret' },
    methods: ['POST'],
    path: '/v1/router/broadcast',
    summary:
      'Report a generation of a third-party router; its receipt signs that it was reported, not that it was paid',
    tags: ['router'],
    ingest_key: 'required',
    status: 201,
    again: { status: 200, is: ({ answer }) => isJsonObject(answer) && answer.idempotent_replay === true },
    field: 'broadcastGeneration',
    body: BroadcastRequest,
    response: BroadcastGenerationNoun,
    errors: ['generation_conflict', 'book_damaged'],
  }),
  documentDoor({
    name: 'get_router_summary',
    methods: ['GET'],
    path: '/v1/router/books/{book_id}/summary',
    summary: 'Get the sums of a router book over the generations that the router itself has confirmed',
    tags: ['router'],
    possession: 'offered',
    ingest_key: 'or_session',
    field: 'routerBookSummary',
    params: RouterBookPath,
    response: RouterBookSummaryNoun,
  }),
] as const;
