import { z } from 'zod';
import { limits } from '../limits.ts';
import { TimeMember } from '../noun.ts';
import { FulfillmentIntentNoun, FulfillmentNoun } from '../receipt-shapes.ts';
import { settlementStatuses } from '../settlement-status.ts';

/* What is shown of a row within its columns and of its events; all else is in `schema/book-row.ts`. */

const { output_commitment, intent, authorization } = FulfillmentNoun.shape;
const OF_ENVELOPE = 'Null if the row does not keep the whole envelope of a paid job.';

/** A fulfillment as a row keeps it: members of the intent stand beside the commitment. */
export const RowFulfillmentNoun = z.object({
  ...FulfillmentIntentNoun.partial({ job_kind: true }).shape,
  output_commitment: output_commitment.nullable(),
  intent: intent.nullable().describe(`What the job was meant to be. ${OF_ENVELOPE}`),
  authorization: authorization.nullable().describe(`Who allowed the job, as far as that is known. ${OF_ENVELOPE}`),
});

export const IngressReceiptNoun = z.object({
  ref: z.string().nullable().describe('`network:transaction` in which the money was seen.'),
  confirmed_at: TimeMember.nullable().describe('Time it was seen (RFC 3339, UTC).'),
});

export const BookReplayNoun = z.object({
  at: TimeMember.describe('Time the payment came again, or the last of several times (RFC 3339, UTC).'),
  first_at: TimeMember.optional().describe('First of several times (RFC 3339, UTC). No value without `count`.'),
  count: z
    .int()
    .optional()
    .describe(
      `Number of times that this event stands for: beyond ${limits.replay_events_per_hour_max} in an hour there is one event a minute. No value if it stands for one.`,
    ),
  settlement_status: z
    .literal('idempotent_replay')
    .meta({ words: settlementStatuses })
    .describe('Always `idempotent_replay`.'),
  replay_of: z.string().describe('Task id of the row.'),
});
