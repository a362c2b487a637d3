import { z } from 'zod';
import { limits } from '../limits.ts';
import { TimeMember } from '../noun.ts';
import { FulfillmentIntentNoun, FulfillmentNoun } from '../receipt-shapes.ts';
import { settlementStatuses } from '../settlement-status.ts';

/* Members within the columns of a row, and its replay events. All other members of a row are in `schema/book-row.ts`. */

const { output_commitment, intent, authorization } = FulfillmentNoun.shape;
const OF_ENVELOPE = 'Null if the row does not keep the whole envelope of a paid job.';

/** A fulfillment as a row stores it: members of the intent are beside the commitment. */
export const RowFulfillmentNoun = z.object({
  ...FulfillmentIntentNoun.partial({ job_kind: true }).shape,
  output_commitment: output_commitment
    .nullable()
    .describe('Commitment to what was delivered. The service always sets it; `status` says whether it has a hash.'),
  intent: intent.nullable().describe(`What was to be bought: kind of work, resource and intent. ${OF_ENVELOPE}`),
  authorization: authorization
    .nullable()
    .describe(`Wallet, session and payment that authorized the job, as far as they are known. ${OF_ENVELOPE}`),
});

export const IngressReceiptNoun = z.object({
  ref: z
    .string()
    .nullable()
    .describe('`network:transaction` in which the transfer was seen. The service always sets it.'),
  confirmed_at: TimeMember.nullable().describe(
    'Time the transfer was seen (RFC 3339, UTC). The service always sets it.',
  ),
});

export const BookReplayNoun = z.object({
  at: TimeMember.describe(
    'Time the payment was sent again; the last time, if the event represents several (RFC 3339, UTC).',
  ),
  first_at: TimeMember.optional().describe(
    'Time of the first of several replays that the event represents (RFC 3339, UTC). Null or absent if it represents one.',
  ),
  count: z
    .int()
    .optional()
    .describe(
      `Number of replays that the event represents: after ${limits.replay_events_per_hour_max} events in an hour, one event a minute is recorded. Null or absent if it represents one.`,
    ),
  settlement_status: z
    .literal('idempotent_replay')
    .meta({ words: settlementStatuses })
    .describe('Always `idempotent_replay`.'),
  replay_of: z.string().describe('Task id of the row whose payment was sent again.'),
});
