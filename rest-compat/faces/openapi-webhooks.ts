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
  header('webhook-id', 'Id of the message (Standard Webhooks 1.0.0), the same for each attempt and redelivery.'),
  header('webhook-timestamp', 'Time of this attempt, in Unix seconds.'),
  header(
    'webhook-signature',
    'One `v1,<base64>` for each secret that signs, separated by spaces: HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<body>`. The key is the decoded base64 after `whsec_`, or the text of a secret without this prefix.',
  ),
  header(
    'X-SVC-Signature',
    '`sha256=<hex>`: HMAC-SHA256 over the body. The key is the whole text of the current secret, with `whsec_` if it has it.',
  ),
  header(
    'X-SVC-Signature-Previous',
    'The same as X-SVC-Signature by each older secret, separated by commas. Absent unless the secret was rotated in the last day.',
    false,
  ),
];

/** Messages that the service sends to the webhook of a book (OpenAPI 3.1, `webhooks`). */
export function webhooks(schemas: ComponentSchemas): JsonObject {
  return {
    book_event: {
      post: {
        operationId: 'receive_book_event',
        summary: 'Receive an event of a book',
        description: `May be sent more than once: ignore a webhook-id that was received before. Answer within ${webhookLimits.attempt_ms_max / 1_000} s.`,
        tags: ['book'],
        security: [],
        parameters,
        requestBody: { required: true, content: content('application/json', schemas.of(WebhookEnvelope, 'output')) },
        responses: {
          '2XX': { description: 'The message was received. The body of the response is ignored.' },
          410: { description: 'No more messages are wanted: the webhook is disabled until its owner sets it again.' },
          default: {
            description: `Any other response, such as a redirect, is a failed attempt. Except for a \`ping\`, the message is sent again up to ${webhookLimits.retry_ms.length} times within ${webhookLimits.message_ms_max / 3_600_000} hours, not before Retry-After (at most ${webhookLimits.retry_after_ms_max / 3_600_000} hours).`,
          },
        },
      },
    },
  };
}
