import { z } from 'zod';
import { computed, TimeMember, word } from '../noun.ts';
import type { Words } from '../words.ts';
import { claimTypes, type DisputeReason, disputeOutcomes, disputeReasons } from './reasons.ts';

/* What is shown of disputes, of their judgements and of the events that record these. */

const reasonWords = {
  graph: 'DisputeReason',
  description: 'Why a dispute was decided, or is open.',
  meanings: Object.fromEntries(Object.entries(disputeReasons).map(([reason, [, sentence]]) => [reason, sentence])),
} as Words<DisputeReason>;

export const DisputeReasonMember = word(reasonWords).describe('Why the dispute was decided so, or is open, as a code.');

const revision = z.int().describe('Number of the latest judgement, from 1.');
const verdict_hash = z
  .string()
  .describe('SHA-256 of its signed document in canonical JSON. A verdict with another hash has been superseded.');
const final = z
  .boolean()
  .describe('True for a refund, which no later verdict supersedes. A later verdict may supersede any other outcome.');

/** A dispute without its signed document. */
export const DisputeNoun = z.object({
  dispute_id: z.string().describe('Id of the dispute.'),
  agent_id: z.int().describe('Id of the agent of the book.'),
  task_id: z.string().describe('Task id of the disputed row.'),
  seq: z.int().describe('Position of the disputed row in the book.'),
  claim_type: word(claimTypes),
  evidence_hash: z
    .string()
    .describe('SHA-256 of the evidence in canonical JSON. The same claim of the same row with it is the same dispute.'),
  outcome: word(disputeOutcomes)
    .nullable()
    .describe('What the dispute came to. Null while it is open, because the records do not decide it.'),
  reason: DisputeReasonMember,
  position: z.int().describe('Position of the latest judgement among the events of the book.'),
  filed_at: TimeMember.describe('Time the dispute was first filed (RFC 3339, UTC).'),
  judged_at: TimeMember.describe('Time of the latest judgement (RFC 3339, UTC).'),
  revision: revision.describe(
    'Number of the latest judgement, from 1. It grows when the dispute is judged again with another result; each judgement has a signed document.',
  ),
  supersedes: z
    .string()
    .nullable()
    .describe('SHA-256 of the signed document that the latest one supersedes. Null for the first one.'),
  final: computed(final),
  decides_after: computed(
    z
      .string()
      .nullable()
      .describe(
        'Time after which an open dispute can be decided (RFC 3339, UTC): file the same dispute again then. Null if it is decided, or if no time is known.',
      ),
  ),
  standing_task_id: z
    .string()
    .nullable()
    .describe('Task id of the charge that stands, if two were made for the same request. Null otherwise.'),
  status_url: computed(
    z.string().describe('Public URL that names the latest judgement of the dispute by its number and hash.'),
  ),
});

export const DisputesNoun = z.object({
  agent_id: z.int().describe('Id of the agent of the book.'),
  disputes: z.array(DisputeNoun).describe('Newest first, each without its signed document.'),
  next: z.string().nullable().describe('`before` of the next page. Null if there is none.'),
});

export const FiledDisputeNoun = z.object({
  filed: z
    .boolean()
    .describe('False if the same dispute was filed before. It is judged again then, unless it is a refund.'),
  dispute: DisputeNoun.describe('The dispute as it is recorded.'),
});

/** The latest judgement of a dispute, without what was claimed or decided. */
export const DisputeStatusNoun = z.object({
  dispute_id: DisputeNoun.shape.dispute_id,
  revision,
  verdict_hash,
  final,
  judged_at: DisputeNoun.shape.judged_at,
});

/** What an event of the book says of a judgement. */
export const DisputeJudgedNoun = DisputeNoun.pick({
  dispute_id: true,
  claim_type: true,
  outcome: true,
  reason: true,
}).extend({
  verdict_hash: z.string().describe('SHA-256 of the signed document in canonical JSON.'),
  revision: z.int().describe('Number of this judgement of the dispute, from 1.'),
  supersedes: z
    .string()
    .nullable()
    .describe('SHA-256 of the signed document that this one supersedes. Null for the first one.'),
});
