import { z } from 'zod';
import { BookEventNoun } from '../../schema/book/event.ts';
import { Row } from '../../schema/book/row.ts';
import { documents } from '../../schema/documents.ts';
import { everyWebhookKind } from '../../schema/webhook/kinds.ts';
import { JsonMembers, nameComponents } from '../answer-shapes.ts';

const event = BookEventNoun.shape;

/** Body of the messages that are sent to a webhook. */
export const WebhookEnvelope = z
  .strictObject({
    schema: z.literal(documents.book_webhook),
    id: z
      .string()
      .describe(
        'The same as header webhook-id: equal for each attempt and redelivery. Ignore a message whose id was received before.',
      ),
    kind: z
      .enum([...everyWebhookKind, 'ping'])
      .describe('Kind of the event. `ping` is a test message, in which the members of an event are null.'),
    agent_id: z.int().describe('Id of the agent whose book it is.'),
    number: z
      .int()
      .nullable()
      .describe(
        'Number among the messages of this book, from 1 without gaps. Null for a `ping`, and if no webhook wanted this kind when the event happened.',
      ),
    position: z
      .int()
      .nullable()
      .describe(
        'Position of the event among the events of the book, from 1, by which receivers order messages. Null for a `ping`.',
      ),
    seq: z.int().nullable().describe('The seq of the row. Null for a `ping`, and if the event concerns no row.'),
    task_id: z.string().nullable().describe('Task id of the row. Null for a `ping`, and if the event concerns no row.'),
    row: Row.nullable().describe(
      'The row as it is when the message is sent. Null for a `ping`, and if the event concerns no row.',
    ),
    row_hash: z
      .string()
      .nullable()
      .describe(
        'SHA-256 (hex) of the facts that the row was recorded with, its seq and the hash of the previous row, which makes the rows of a book a hash chain. It cannot be computed from `row` alone. Null for a `ping`, and if the event concerns no row.',
      ),
    event: z
      .object({
        kind: z.string().describe('Kind of the book event, such as `born`.'),
        body: JsonMembers.describe('Facts of the event. Its members depend on `kind`.'),
      })
      .nullable()
      .describe('The event as the book stores it; `hash` covers it. Null for a `ping`.'),
    prev_hash: z.string().nullable().describe(`${event.prev_hash.description} Null for a \`ping\`.`),
    hash: z
      .string()
      .nullable()
      .describe(`${event.hash.description} \`kind\` and \`body\` are those of \`event\`. Null for a \`ping\`.`),
    at: z.string().describe('Time of the event (RFC 3339, UTC).'),
    approval_link: z
      .string()
      .optional()
      .describe(
        'Link with which a person answers an open approval request, once. Keep it secret. Absent from all other messages, and if the webhook was changed since the request.',
      ),
  })
  .describe('Message to a webhook: an event of a book, or a test (`ping`). Its headers contain the signatures.');

nameComponents({ WebhookEnvelope });
