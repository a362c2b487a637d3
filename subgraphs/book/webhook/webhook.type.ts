import { WebhookRequest } from '../../../schema/requests/webhook.ts';
import { usualWebhookKinds } from '../../../schema/webhook/kinds.ts';
import {
  SetWebhookNoun,
  WebhookDeadLettersNoun,
  WebhookNoun,
  WebhookPingNoun,
  WebhookSentNoun,
} from '../../../schema/webhook/webhook.ts';
import { inputType, objectType } from '../../graph-type.ts';
import type { StandingWebhook } from './change.ts';

/* GraphQL inputs and types of webhooks and their messages. */

export const WebhookInput = inputType(
  'WebhookInput',
  'Webhook to set. A member that is left out has its default; an existing secret is kept.',
  WebhookRequest,
);

export const ShownWebhook = objectType('Webhook', 'Webhook of a book, without its secret.', WebhookNoun);
export type ShownWebhook = InstanceType<typeof ShownWebhook>;
export const BookWebhook = objectType(
  'BookWebhook',
  'The webhook of a book, and the kinds of events that it sends by default.',
  SetWebhookNoun,
);
export type BookWebhook = InstanceType<typeof BookWebhook>;
export const WebhookDeadLetters = objectType(
  'WebhookDeadLetters',
  'A page of messages that could not be delivered, newest event first.',
  WebhookDeadLettersNoun,
);
export type WebhookDeadLetters = InstanceType<typeof WebhookDeadLetters>;
export const WebhookSent = objectType(
  'WebhookSent',
  'How many messages of the webhook are being sent again, as requested.',
  WebhookSentNoun,
);
export type WebhookSent = InstanceType<typeof WebhookSent>;
export const WebhookPing = objectType('WebhookPing', 'A test message that is being sent.', WebhookPingNoun);
export type WebhookPing = InstanceType<typeof WebhookPing>;

export function shownWebhook(
  agentId: number,
  standing: StandingWebhook | null,
  secretOnce: string | null = null,
): BookWebhook {
  return { agentId, webhook: standing && shown(standing), supportedEvents: usualWebhookKinds, secretOnce };
}

function shown({ webhook, secrets, enabled, events }: StandingWebhook): ShownWebhook {
  const { host, pathname, search } = new URL(secrets.url);
  const { deliveries, failures, lastStatus, lastError } = webhook;
  const place = { urlHost: host, urlPath: pathname + search };
  return { enabled, ...place, events, hasSecret: true, deliveries, failures, lastStatus, lastError };
}
