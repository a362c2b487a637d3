import { z } from 'zod';
import { isJsonObject, present } from '../../schema/canonical-json.ts';
import { BroadcastMembers, RouterBookRequest, RouterKeyMembers } from '../../schema/requests/router.ts';
import { documentDoor } from '../door.ts';
import { BroadcastAnswer, KeptRouterKeyAnswer, OpenedRouterBookAnswer, RouterSummaryAnswer } from './answers.ts';

const RouterBookPath = z.object({ book_id: z.string().min(1).max(64) });

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
    variables: ({ body: { agent_id, label } }) => ({ input: present({ agentId: agent_id, label }) }),
    response: OpenedRouterBookAnswer,
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
    body: RouterKeyMembers,
    variables: ({ params, body }) => ({ bookId: params.book_id, key: body.key }),
    response: KeptRouterKeyAnswer,
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
    body: BroadcastMembers,
    variables: ({ body: { generation_id, model, amount, rail, payment_ref } }) => ({
      input: present({ generationId: generation_id, model, amount, rail, paymentRef: payment_ref }),
    }),
    response: BroadcastAnswer,
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
    variables: ({ params }) => ({ bookId: params.book_id }),
    response: RouterSummaryAnswer,
  }),
] as const;
