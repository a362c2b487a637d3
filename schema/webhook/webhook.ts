import { z } from 'zod';
import { webhookLimits } from '../limits.ts';
import { sizedList, TimeMember, word } from '../noun.ts';
import { everyWebhookKind, usualWebhookKinds, webhookKindWords } from './kinds.ts';

/* The webhook of a book as it is shown. */

const optionalKinds = everyWebhookKind.filter(kind => !usualWebhookKinds.includes(kind));

export const WebhookNoun = z.object({
  enabled: z
    .boolean()
    .describe('Whether messages are sent. A receiver that answers with status 410 sets this to false.'),
  url_host: z.string().describe('Host of the URL, with its port unless that is the default one.'),
  url_path: z.string().describe('Path and query of the URL that messages are sent to.'),
  events: sizedList(word(webhookKindWords), everyWebhookKind.length).describe('Kinds of events that are sent.'),
  has_secret: z.boolean().describe('Whether messages are signed. Always true.'),
  deliveries: z.int().describe('Number of messages that the receiver accepted, with a status from 200 to 299.'),
  failures: z.int().describe('Total number of delivery attempts that failed.'),
  lastStatus: z
    .int()
    .nullable()
    .describe('HTTP status of the last attempt. Null if it had no response, or if there was no attempt.'),
  lastError: z
    .string()
    .nullable()
    .describe('Why the last attempt failed. Null if it succeeded, or if there was no attempt.'),
});

export const BookWebhookNoun = z.object({
  agent_id: z.int().describe('Id of the agent of the book.'),
  webhook: WebhookNoun.nullable().describe('The webhook of the book. Null if none is set.'),
  supported_events: sizedList(
    z.enum(usualWebhookKinds).meta({ words: webhookKindWords }),
    everyWebhookKind.length,
  ).describe(`Kinds of events that are sent by default. \`events\` accepts these and ${optionalKinds.join(', ')}.`),
});

/** The same, with a secret that was just made. */
export const SetWebhookNoun = BookWebhookNoun.extend({
  secret_once: z
    .string()
    .optional()
    .describe(
      'The secret that signs the messages, if this request made a new one. Store it: it is returned only here. Null or absent if the earlier secret stays.',
    ),
});

export const WebhookSentNoun = z.object({
  agent_id: z.int().describe('Id of the agent of the book.'),
  messages: z.int().describe('Number of messages that are being sent again.'),
});

export const WebhookPingNoun = z.object({
  agent_id: z.int().describe('Id of the agent of the book.'),
  id: z.string().describe('Id of the test message: its header `webhook-id`.'),
});

/** A message that could not be delivered. */
export const WebhookDeadLetterNoun = z.object({
  position: z.int().describe('Position of the event of the message among the events of the book, from 1.'),
  kind: word(webhookKindWords),
  attempts: z.int().describe('Number of attempts to send the message.'),
  given_up_at: TimeMember.describe('Time of the decision to stop trying (RFC 3339, UTC).'),
  lastStatus: z
    .int()
    .nullable()
    .describe(
      'HTTP status of the last attempt. Null if it had no response, or if the message was given up for another reason.',
    ),
  lastError: z
    .string()
    .nullable()
    .describe('Why the last attempt failed, or why the message was given up without one. The service always sets it.'),
});

export const WebhookDeadLettersNoun = z.object({
  agent_id: z.int().describe('Id of the agent of the book.'),
  dead_letters: z
    .array(WebhookDeadLetterNoun)
    .describe(
      `Messages that could not be delivered, newest event first. The newest ${webhookLimits.dead_letters_max} of ${webhookLimits.dead_letter_days} days are kept.`,
    ),
  next: z.string().nullable().describe('`before` of the next page. Null if there is none.'),
});
