import { z } from 'zod';
import { everyWebhookKind, usualWebhookKinds } from '../../schema/webhook/kinds.ts';
import { nameComponents } from '../answer-shapes.ts';

/* What the doors of webhooks answer, as it looks on the wire. */

const Webhook = z.object({
  enabled: z.boolean().describe('Whether anything is sent; a receiver that answers 410 ends it.'),
  url_host: z.string(),
  url_path: z.string().describe('Path and query. The whole URL and the secret are never shown.'),
  events: z.array(z.enum(everyWebhookKind)),
  has_secret: z.boolean(),
  deliveries: z.int().describe('Messages that were taken.'),
  failures: z.int().describe('Attempts that failed.'),
  lastStatus: z.int().nullable().describe('Of the last answer; null where the last attempt had none.'),
  lastError: z.string().nullable().describe('Why the last attempt failed; null where it did not.'),
});

export const WebhookAnswer = z.object({
  agent_id: z.int(),
  webhook: Webhook.nullable().describe('null where none is set.'),
  supported_events: z.array(z.enum(usualWebhookKinds)).describe('What a webhook is told of unless it asks otherwise.'),
});

export const SetWebhookAnswer = WebhookAnswer.extend({
  secret_once: z
    .string()
    .optional()
    .describe('The secret, where it was made here just now: shown here and never again.'),
});

export const DeadLettersAnswer = z.object({
  agent_id: z.int(),
  dead_letters: z.array(
    z.object({
      position: z.int().describe('Of its event.'),
      kind: z.enum(everyWebhookKind),
      attempts: z.int(),
      given_up_at: z.string(),
      lastStatus: z.int().nullable(),
      lastError: z.string().nullable(),
    }),
  ),
  next: z.string().nullable().describe('`before` of the next page; null where this is the last.'),
});

export const PingAnswer = z.object({ agent_id: z.int(), id: z.string().describe('Header webhook-id of the message.') });

export const RedeliveryAnswer = z.object({ agent_id: z.int(), messages: z.int().describe('That are on their way.') });

// As the graph names them.
nameComponents({
  Webhook,
  BookWebhook: WebhookAnswer,
  SetWebhook: SetWebhookAnswer,
  WebhookDeadLetters: DeadLettersAnswer,
  WebhookPing: PingAnswer,
  WebhookSent: RedeliveryAnswer,
});
