import { limits } from '../../schema/limits.ts';
import { DeadLetterPage, RedeliveryRequest, RotationRequest, WebhookRequest } from '../../schema/requests/webhook.ts';
import {
  BookWebhookNoun,
  SetWebhookNoun,
  WebhookDeadLettersNoun,
  WebhookNoun,
  WebhookPingNoun,
  WebhookSentNoun,
} from '../../schema/webhook/webhook.ts';
import { nameComponents } from '../answer-shapes.ts';
import { documentDoor } from '../door.ts';
import { queryOf } from '../text-members.ts';
import { AgentPath } from './doors.ts';

const PATH = '/v1/agents/{agent_id}/book/webhook';
/** A secret that the client chose is not returned. */
const setNulls = { '': ['webhook'] } as const;

/** Webhook of a book: its URL, secret and failed deliveries. */
export const webhookDoors = [
  documentDoor({
    name: 'get_webhook',
    methods: ['GET'],
    path: PATH,
    summary: 'Get the webhook of a book: its URL in parts and its settings, without its secret',
    tags: ['book'],
    possession: 'required',
    field: 'webhook',
    params: AgentPath,
    response: BookWebhookNoun,
  }),
  documentDoor({
    name: 'set_webhook',
    tool: { none: 'returns_secret' },
    methods: ['PUT', 'POST'],
    path: PATH,
    summary: 'Set the webhook of a book; a generated secret is shown once',
    tags: ['book'],
    possession: 'session',
    field: 'setWebhook',
    params: AgentPath,
    // Signatures of contract wallets may be long.
    body_bytes_max: 2 * limits.small_request_bytes_max,
    body: WebhookRequest,
    nulls: setNulls,
    response: SetWebhookNoun,
    errors: ['book_damaged', 'control_proof_missing', 'control_proof_invalid', 'chain_unavailable'],
  }),
  documentDoor({
    name: 'remove_webhook',
    methods: ['DELETE'],
    path: PATH,
    summary: 'Remove the webhook of a book; nothing more is sent',
    tags: ['book'],
    possession: 'required',
    field: 'removeWebhook',
    params: AgentPath,
    response: BookWebhookNoun,
    errors: ['book_damaged'],
  }),
  documentDoor({
    name: 'rotate_webhook_secret',
    tool: { none: 'returns_secret' },
    methods: ['POST'],
    path: `${PATH}/rotate`,
    summary: 'Rotate the secret of the webhook; the previous one also signs for a day',
    tags: ['book'],
    possession: 'session',
    field: 'rotateWebhookSecret',
    params: AgentPath,
    body: RotationRequest,
    nulls: setNulls,
    response: SetWebhookNoun,
    errors: ['not_found', 'book_damaged'],
  }),
  documentDoor({
    name: 'ping_webhook',
    reaches_out: true,
    effect: 'adds',
    methods: ['POST'],
    path: `${PATH}/ping`,
    summary: 'Send a test message to the webhook; `lastStatus` and `lastError` of get_webhook then show the outcome',
    tags: ['book'],
    possession: 'required',
    status: 202,
    field: 'pingWebhook',
    params: AgentPath,
    response: WebhookPingNoun,
    errors: ['not_found', 'book_damaged'],
  }),
  documentDoor({
    name: 'redeliver_webhook',
    reaches_out: true,
    effect: 'adds',
    methods: ['POST'],
    path: `${PATH}/redeliver`,
    summary: 'Send again the webhook messages of the book events in a range of positions',
    tags: ['book'],
    possession: 'required',
    status: 202,
    field: 'redeliverWebhook',
    params: AgentPath,
    body: RedeliveryRequest,
    response: WebhookSentNoun,
    errors: ['not_found', 'book_damaged'],
  }),
  documentDoor({
    name: 'list_dead_letters',
    methods: ['GET'],
    path: `${PATH}/dead-letters`,
    summary: 'List the webhook messages that could not be delivered, newest first',
    tags: ['book'],
    possession: 'required',
    field: 'webhookDeadLetters',
    params: AgentPath,
    query: queryOf(DeadLetterPage),
    response: WebhookDeadLettersNoun,
  }),
] as const;

// With the names of the graph.
nameComponents({
  Webhook: WebhookNoun,
  BookWebhook: BookWebhookNoun,
  SetWebhook: SetWebhookNoun,
  WebhookDeadLetters: WebhookDeadLettersNoun,
  WebhookPing: WebhookPingNoun,
  WebhookSent: WebhookSentNoun,
});
