import * as z from 'zod';
import { TimeMember } from '../noun.ts';

/* What is shown of the latest judgement of a dispute, without what was claimed or decided. */

export const DisputeStatusNoun = z.object({
  dispute_id: z.string().describe('Id of the dispute.'),
  revision: z.int().describe('Number of the latest judgement, from 1.'),
  verdict_hash: z
    .string()
    .describe('SHA-256 of its signed document in canonical JSON. A verdict with another hash has been superseded.'),
  final: z.boolean().describe('True for a refund, which no later verdict supersedes.'),
  judged_at: TimeMember.describe('Time of the latest judgement (RFC 3339, UTC).'),
});
