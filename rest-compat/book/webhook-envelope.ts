import { z } from 'zod';
import { BookEventNoun } from '../../schema/book/event.ts';
import { Row } from '../../schema/book/row.ts';
import { documents } from '../../schema/documents.ts';
import { everyWebhookKind } from '../../schema/webhook/kinds.ts';
import { JsonMembers, nameComponents } from '../answer-shapes.ts';

const event = BookEventNoun.shape;

/** What a receiver is sent: the one shape that goes out and does not answer anybody. */
export const WebhookEnvelope = z
  .strictObject({
    schema: z.literal(documents.book_webhook),
    id: z
      .string()
      .describe('Header webhook-id: the same for each attempt and redelivery. Whoever has seen it drops it.'),
    kind: z.enum([...everyWebhookKind, 'ping']).describe('`ping` is a test message: all that is of an event is null.'),
    agent_id: z.int(),
    number: z
      .int()
      .nullable()
      .describe('Of the messages of this book, without gaps; null where nobody was to be told when it happened.'),
    position: z.int().nullable().describe('Of its event on the book: receivers order by it.'),
    seq: z.int().nullable().describe('Place of its row; null where the event is of none.'),
    task_id: z.string().nullable(),
    row: Row.nullable().describe('As the book shows it at the moment of sending.'),
    row_hash: z.string().nullable().describe('Of the row as it was born.'),
    event: z
      .object({ kind: z.string(), body: JsonMembers })
      .nullable()
      .describe('As it stands in the book for ever; `hash` covers it.'),
    prev_hash: z.string().nullable().describe(`${event.prev_hash.description}`),
    hash: z.string().nullable().describe(`${event.hash.description} \`kind\` and \`body\` are those of \`event\`.`),
    at: z.string(),
    approval_link: z
      .string()
      .optional()
      .describe(
        'Of an `approval` that waits for an answer, where the webhook has stood unchanged since before it was asked for, and of nothing else: who has it answers, once. Keep it secret.',
      ),
  })
  .describe('Signed by its headers.');

nameComponents({ WebhookEnvelope });
