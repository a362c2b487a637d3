import { z } from 'zod';
import { everyWebhookKind } from '../../schema/webhook/kinds.ts';
import {
  BookWebhookNoun,
  SetWebhookNoun,
  WebhookNoun,
  WebhookPingNoun,
  WebhookSentNoun,
} from '../../schema/webhook/webhook.ts';
import { nameComponents } from '../answer-shapes.ts';

/* What the doors of webhooks answer, as it looks on the wire, beside the nouns themselves. */

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

// As the graph names them.
nameComponents({
  Webhook: WebhookNoun,
  BookWebhook: BookWebhookNoun,
  SetWebhook: SetWebhookNoun,
  WebhookDeadLetters: DeadLettersAnswer,
  WebhookPing: WebhookPingNoun,
  WebhookSent: WebhookSentNoun,
});
