import { everyWebhookKind, type WebhookKind, webhookKinds } from '../../../schema/webhook/kinds.ts';
import { graphEnum } from '../../graph-enum.ts';

/* Words of webhooks, as the graph's enums. */

const descriptions = Object.fromEntries(everyWebhookKind.map(kind => [kind, webhookKinds[kind].description]));

export const WebhookKindWord = graphEnum<WebhookKind>(
  'WebhookKind',
  'Of what a webhook tells.',
  descriptions as Record<WebhookKind, string>,
);
