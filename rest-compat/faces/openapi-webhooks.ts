import type { JsonObject } from '../../schema/canonical-json.ts';
import { webhookLimits } from '../../schema/limits.ts';
import { WebhookEnvelope } from '../book/webhook-envelope.ts';
import { content } from './openapi-responses.ts';
import type { ComponentSchemas } from './openapi-schemas.ts';

const header = (name: string, description: string, required = true): JsonObject => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string' },
});

const parameters = [
  header('webhook-id', 'Of the message (Standard Webhooks 1.0.0): the same for each attempt and redelivery.'),
  header('webhook-timestamp', 'Unix seconds of this attempt.'),
  header(
    'webhook-signature',
    'One `v1,<base64>` for each secret that signs, apart by a space: HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<body>`.',
  ),
  header(
    'X-SVC-Signature',
    '`sha256=<hex>`: HMAC-SHA256 over the body, by the characters of the secret as it was shown.',
  ),
  header('X-SVC-Signature-Previous', 'The same by older secrets, apart by commas, for a day after a rotation.', false),
];

/** What the service itself sends to whoever sets a webhook (OpenAPI 3.1, `webhooks`). */
export function webhooks(schemas: ComponentSchemas): JsonObject {
  return {
    book_event: {
      post: {
        operationId: 'receive_book_event',
        summary: 'A book tells its webhook of an event',
        description: `Sent at least once; answer within ${webhookLimits.attempt_ms_max / 1_000} s, and drop an id that was seen before.`,
        tags: ['book'],
        security: [],
        parameters,
        requestBody: { required: true, content: content('application/json', schemas.of(WebhookEnvelope, 'output')) },
        responses: {
          '2XX': { description: 'It was taken. The body is not read for anything.' },
          410: { description: 'It wants no more: the webhook is disabled until its owner sets it again.' },
          default: { description: 'It failed, a redirect too: it is sent again, later where Retry-After says so.' },
        },
      },
    },
  };
}
