import { z } from 'zod';
import { INT_MAX, limits, webhookLimits } from '../limits.ts';
import { word } from '../noun.ts';
import { textForm } from '../signed-words.ts';
import { everyWebhookKind, usualWebhookKinds, webhookKindWords } from '../webhook/kinds.ts';
import { secretFault } from '../webhook/secret.ts';
import { pageLimit } from './page-limit.ts';
import { listOf } from './parse.ts';
import { PossessionMembers, type WithoutPossession } from './possession.ts';
import { wellFormedText } from './text.ts';

/* Requests of /v1/agents/{agent_id}/book/webhook and the endpoints below it. */

const { secret_chars_min, secret_chars_max, secret_bytes_min, secret_bytes_max } = webhookLimits;

const Secret = z
  .string()
  .superRefine((secret, context) => {
    const message = secretFault(secret);
    if (message !== null) context.addIssue({ code: 'custom', message });
  })
  .optional();
const SECRET = `Secret that signs messages: \`whsec_\` and the base64 of ${secret_bytes_min} to ${secret_bytes_max} bytes (Standard Webhooks), or ${secret_chars_min} to ${secret_chars_max} visible ASCII characters.`;

/**
 * Body of PUT and POST /v1/agents/{agent_id}/book/webhook. Possession is checked before the body is parsed. The operation that stores the
 * URL checks whether it is allowed.
 */
export const WebhookRequest = PossessionMembers.extend({
  url: z
    .string()
    .max(webhookLimits.url_chars_max)
    .describe(
      `URL that messages are sent to, up to ${webhookLimits.url_chars_max} characters: https, with the name of a public host, on port 443 or a port from 1024 on, without user name, password and fragment.`,
    ),
  secret: Secret.describe(
    `${SECRET} Default: the secret that the webhook has or, if it has none, a new secret that is shown once.`,
  ),
  events: listOf(word(webhookKindWords), everyWebhookKind.length)
    .transform(kinds => everyWebhookKind.filter(kind => kinds.includes(kind)))
    .optional()
    .describe(
      `Kinds of events that are sent: any of ${everyWebhookKind.join(', ')}. Default: ${usualWebhookKinds.join(', ')}.`,
    ),
  enabled: z.boolean().optional().describe('Whether messages are sent. Default: true, even if it was false before.'),
  wallet_signature: wellFormedText
    .max(limits.wallet_signature_chars_max)
    .optional()
    .describe(
      'Required if `approval` is among the events, unless the webhook now has this same URL with `approval` among its events. Signature of the wallet of the agent over ' +
        `${textForm('approval_webhook')} with the URL as \`new URL(url).href\` ` +
        'writes it: personal_sign, ERC-1271 or ERC-6492.',
    ),
  signature_timestamp: z
    .int()
    .min(0)
    .optional()
    .describe('Current time: the Unix seconds in the text that `wallet_signature` signs. Required with it.'),
}).strict();
export type WebhookRequest = WithoutPossession<z.output<typeof WebhookRequest>>;

export const RotationRequest = PossessionMembers.extend({
  secret: Secret.describe(`${SECRET} Default: a new secret that the service makes and shows once.`),
}).strict();

const Position = z.int().min(1).max(INT_MAX);

export const RedeliveryRequest = PossessionMembers.extend({
  from_position: Position.describe('Position of the first book event whose messages are sent again, from 1.'),
  to_position: Position.describe(
    `Position of the last book event, included. The range may span at most ${webhookLimits.redelivered_positions_max} positions and ${webhookLimits.redelivered_messages_max} messages.`,
  ),
}).strict();
export type RedeliveryRequest = WithoutPossession<z.output<typeof RedeliveryRequest>>;

/** Page of the messages whose delivery was given up. */
export const DeadLetterPage = z.strictObject({
  limit: pageLimit({
    of: 'messages',
    default: webhookLimits.dead_letters_page_default,
    max: webhookLimits.dead_letters_page_max,
  }),
  before: z
    .string()
    .regex(/^\d{1,10}\.[a-z_]{1,32}$/, { error: 'is not the `next` of a page of this list' })
    .optional()
    .describe(
      'Returns only the messages that follow in the list: pass `next` of the previous response. Default: starts at the newest.',
    ),
});
export type DeadLetterPage = z.output<typeof DeadLetterPage>;
