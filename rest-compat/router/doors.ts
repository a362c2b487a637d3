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

// As the graph names them.
nameComponents({
  OpenedRouterBook: OpenedRouterBookNoun,
  KeptRouterKey: KeptRouterKeyNoun,
  BroadcastGeneration: BroadcastGenerationNoun,
  RouterRailSum: RouterRailSumNoun,
  RouterBookSummary: RouterBookSummaryNoun,
});

/** Generations of a third-party router under its users' own keys: reported, receipted, and settled by somebody else. */
export const routerDoors = [
  documentDoor({
    name: 'open_router_book',
    effect: 'adds',
    tool: { none: 'returns_secret' },
    methods: ['POST'],
    path: '/v1/router/books',
    summary: 'Opens a router book; the key by which it is broadcast to is answered, once',
    tags: ['router'],
    possession: 'offered',
    status: 201,
    field: 'openRouterBook',
    body: RouterBookRequest,
    response: OpenedRouterBookNoun,
  }),
  documentDoor({
    name: 'set_router_key',
    tool: { none: 'needs_secret' },
    methods: ['PUT'],
    path: '/v1/router/books/{book_id}/router-key',
    summary: "Keeps the third-party router's key of a router book, sealed, in place of one before it",
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
    summary: 'Reports a generation: one receipt each, which signs that it was said. This service did not settle it',
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
    summary: 'What of a router book the router itself has told the same of; nothing else is counted',
    tags: ['router'],
    possession: 'offered',
    ingest_key: 'or_session',
    field: 'routerBookSummary',
    params: RouterBookPath,
    response: RouterBookSummaryNoun,
  }),
] as const;
