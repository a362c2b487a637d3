import { z } from 'zod';
import { limits, webhookLimits } from '../limits.ts';
import { textForm } from '../signed-words.ts';
import { everyWebhookKind, usualWebhookKinds } from '../webhook/kinds.ts';
import { secretFault } from '../webhook/secret.ts';
import { listOf } from './parse.ts';
import { PossessionMembers } from './possession.ts';
import { wellFormedText } from './text.ts';

/* What is asked of /v1/agents/{agent_id}/book/webhook and of the doors beneath it. */

const { secret_chars_min, secret_chars_max, secret_bytes_min, secret_bytes_max } = webhookLimits;

const Secret = z
  .string()
  .superRefine((secret, context) => {
    const message = secretFault(secret);
    if (message !== null) context.addIssue({ code: 'custom', message });
  })
  .optional()
  .describe(
    `\`whsec_\` and the base64 of ${secret_bytes_min} to ${secret_bytes_max} bytes (Standard Webhooks), or ${secret_chars_min} to ${secret_chars_max} visible ASCII characters.`,
  );

/** What of a webhook is set, the same by REST and on the graph; whether the URL may be one is judged by whoever sets it. */
export const WebhookMembers = z.strictObject({
  url: z.string().max(webhookLimits.url_chars_max).describe('An https URL by the name of a public host.'),
  secret: Secret,
  events: listOf(z.enum(everyWebhookKind), everyWebhookKind.length)
    .transform(kinds => everyWebhookKind.filter(kind => kinds.includes(kind)))
    .optional()
    .describe(`Which events it is told of; ${usualWebhookKinds.join(', ')} where it is left out.`),
  enabled: z.boolean().optional().describe('false: nothing is sent; true where it is left out.'),
  wallet_signature: wellFormedText
    .max(limits.wallet_signature_chars_max)
    .optional()
    .describe(
      'Required if `approval` is among the events and was not sent to this URL before. Signature of the agentWallet over ' +
        `${textForm('approval_webhook')} with the URL as \`new URL(url).href\` ` +
        'writes it: personal_sign, ERC-1271 or ERC-6492.',
    ),
  signature_timestamp: z.int().min(0).optional().describe('The Unix seconds in the signed text: now.'),
});
export type WebhookMembers = z.output<typeof WebhookMembers>;

/** Body of PUT and POST /v1/agents/{agent_id}/book/webhook; possession in it was looked at before. */
export const WebhookRequest = PossessionMembers.extend(WebhookMembers.shape).strict();

export const RotationMembers = z.strictObject({ secret: Secret });
export const RotationRequest = PossessionMembers.extend(RotationMembers.shape).strict();

const Position = z.int().min(1).max(2_147_483_647);

export const RedeliveryMembers = z.strictObject({
  from_position: Position.describe('The first position of the book whose messages are sent again.'),
  to_position: Position.describe(
    `The last, too: at most ${webhookLimits.redelivered_positions_max} positions, and ${webhookLimits.redelivered_messages_max} messages.`,
  ),
});
export type RedeliveryMembers = z.output<typeof RedeliveryMembers>;
export const RedeliveryRequest = PossessionMembers.extend(RedeliveryMembers.shape).strict();

export const DeadLetterCursor = z
  .string()
  .regex(/^\d{1,10}\.[a-z_]{1,32}$/, { error: 'is no cursor of this list' })
  .optional();
