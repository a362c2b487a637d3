import { z } from 'zod';
import { documents } from '../documents.ts';
import { computedMember, TimeMember, word } from '../noun.ts';
import { DocumentSignatureNoun } from '../receipt-shapes.ts';
import type { Words } from '../words.ts';
import { claimTypes, type DisputeReason, disputeOutcomes, disputeReasons } from './reasons.ts';

/* Disputes and their judgements as they are shown: signed, and as events of the book. */

const reasonWords = {
  graph: 'DisputeReason',
  description: 'Reason why a dispute was decided or is still open.',
  meanings: {
    ...Object.fromEntries(Object.entries(disputeReasons).map(([reason, [, sentence]]) => [reason, sentence])),
    // A verdict states these sentences and is signed, so only their descriptions can be worded better.
    no_output_sold: 'What was bought has no output, so none can be missing and nothing is owed back.',
    first_charge: 'This is the first of the two charges.',
    commitment_by_others:
      'The commitment was made by somebody other than the issuer. The issuer has not seen the output and cannot say whether it was delivered.',
  },
} as Words<DisputeReason>;

const DisputeReasonMember = word(reasonWords).describe(
  'Reason for the outcome, or for the dispute being open, as a code.',
);

const THIS_REVISION = 'Number of this judgement of the dispute, from 1.';
const SUPERSEDED =
  'SHA-256, in hex, of the canonical JSON of the signed document, with its signature, that this document supersedes.';
const REFUND = 'True for a refund, which no later verdict supersedes.';
const STANDING = 'For a refund of a double charge: task id of the other charge, which stands.';
const STATUS = 'Public URL that names the latest judgement of the dispute by its number and hash.';
const DECIDES_AFTER = 'Time after which an open dispute can be decided (RFC 3339, UTC)';

const revision = z.int().describe('Number of the latest judgement, from 1.');
const verdict_hash = z
  .string()
  .describe(
    'SHA-256, in hex, of the signed document of the latest judgement in canonical JSON. A verdict with another hash has been superseded.',
  );
const final = z.boolean().describe(`${REFUND} A later verdict may supersede any other outcome.`);

/** A dispute without its signed document. */
export const DisputeNoun = z.object({
  dispute_id: z.string().describe('Id of the dispute.'),
  agent_id: z.int().describe('Id of the agent of the book.'),
  task_id: z.string().describe('Task id of the disputed row.'),
  seq: z.int().describe('The seq of the disputed row.'),
  claim_type: word(claimTypes),
  evidence_hash: z
    .string()
    .describe(
      'SHA-256, in hex, of the evidence in canonical JSON. Disputes of the same row with the same claim type and evidence are one dispute.',
    ),
  outcome: word(disputeOutcomes)
    .nullable()
    .describe(
      'Outcome of the dispute: `refund` (the payment is owed back), `partial` (a part was delivered) or `stand` (nothing is owed). Null while it is open, because the records do not decide it.',
    ),
  reason: DisputeReasonMember,
  position: z.int().describe('Position of the latest judgement among the events of the book, from 1.'),
  filed_at: TimeMember.describe('Time the dispute was first filed (RFC 3339, UTC).'),
  judged_at: TimeMember.describe('Time of the latest judgement (RFC 3339, UTC).'),
  revision: revision.describe(
    'Number of the latest judgement, from 1. It grows when the dispute is judged again with another result; each judgement has a signed document.',
  ),
  supersedes: z
    .string()
    .nullable()
    .describe(
      'SHA-256, in hex, of the signed document of the judgement before the latest one. Null if the latest judgement is the first.',
    ),
  final: computedMember(final),
  decides_after: computedMember(
    z
      .string()
      .nullable()
      .describe(`${DECIDES_AFTER}: file the same dispute again then. Null if it is decided, or if no time is known.`),
  ),
  standing_task_id: z.string().nullable().describe(`${STANDING} Null otherwise.`),
  status_url: computedMember(z.string().describe(STATUS)),
});

const LATER_RULES = 'Absent under rule versions 1 and 2.';

/** The signed document of a judgement, with everything needed to apply the rule again. */
export const VerdictNoun = z.looseObject({
  schema: z.literal(documents.dispute_verdict).describe(`Always \`${documents.dispute_verdict}\`.`),
  iss: z.string().describe('Base URL of the issuer.'),
  rule_version: z.int().describe('Number of the version of the rule that was applied, from 1.'),
  outcome: DisputeNoun.shape.outcome
    .unwrap()
    .optional()
    .describe('Outcome of the dispute. Absent while the dispute is open.'),
  reason: DisputeReasonMember,
  revision: z.int().optional().describe(`${THIS_REVISION} ${LATER_RULES}`),
  supersedes: z.string().optional().describe(`${SUPERSEDED} Absent from the first one.`),
  status_url: z.string().optional().describe(`${STATUS} ${LATER_RULES}`),
  final: z.boolean().optional().describe(`${REFUND} ${LATER_RULES}`),
  decides_after: z.string().optional().describe(`${DECIDES_AFTER}. Absent if it is decided, or if no time is known.`),
  standing_task_id: z.string().optional().describe(`${STANDING} Absent otherwise.`),
  owed_back: z
    .object({
      task_id: z.string().describe('Task id of the charge that is owed back.'),
      amount: z.string().describe('Amount in atomic USDC.'),
    })
    .optional()
    .describe('For a refund: the charge that the issuer owes back. Absent for any other outcome.'),
  owed_by_winner: z
    .object({
      agent_id: z.int().describe('Agent id of the winner of the job.'),
      amount: z.string().describe('Amount in atomic USDC.'),
    })
    .optional()
    .describe(
      'For a paid job whose output was never revealed: its winner and the price paid to the winner, which the issuer does not owe. Absent otherwise.',
    ),
  facts: z
    .array(
      z.object({
        name: z
          .string()
          .describe('Name of the fact: `disputed.` or `other.` for the row, and the fact, such as `disputed.amount`.'),
        value: z
          .unknown()
          .describe(
            'Value of the fact, as JSON. Null if there is none, as without the row, its receipt or the member.',
          ),
        from: z
          .string()
          .describe(
            'Source of the fact: `book_row`, `book_event`, `receipt_payload`, `log_leaf`, `payment_claim`, `dispute` or `board_job`.',
          ),
      }),
    )
    .describe('Facts that the rule read, in the order in which it read them, each with its source.'),
  moves_money: z.literal(false).describe('Always false: a verdict moves no money.'),
  means: z.string().describe('Meaning of the outcome, in sentences.'),
  signature: DocumentSignatureNoun.describe(
    'Signature of the issuer over the canonical JSON (RFC 8785) of all other members.',
  ),
});

export const SignedDisputeNoun = DisputeNoun.extend({
  verdict: computedMember(
    VerdictNoun.describe(
      'The signed document, with everything needed to apply the rule again: `npm run verify -- FILE` does so offline.',
    ),
  ),
});

export const DisputesNoun = z.object({
  agent_id: z.int().describe('Id of the agent of the book.'),
  disputes: z.array(DisputeNoun).describe('Disputes of the page, newest first, each without its signed document.'),
  next: z.string().nullable().describe('`before` of the next page. Null if this is the last page.'),
});

export const FiledDisputeNoun = z.object({
  filed: z
    .boolean()
    .describe('False if the same dispute was filed before. It is then judged again, unless its outcome is a refund.'),
  dispute: SignedDisputeNoun.describe('The dispute, with its signed verdict.'),
});

/** The latest judgement of a dispute, without what was claimed or decided. */
export const DisputeStatusNoun = z.object({
  dispute_id: DisputeNoun.shape.dispute_id,
  revision,
  verdict_hash,
  final,
  judged_at: DisputeNoun.shape.judged_at,
});

/** A judgement as an event of the book records it. */
export const DisputeJudgedNoun = DisputeNoun.pick({
  dispute_id: true,
  claim_type: true,
  outcome: true,
  reason: true,
}).extend({
  verdict_hash: z.string().describe('SHA-256 (hex) of the signed document in canonical JSON.'),
  revision: z.int().describe(THIS_REVISION),
  supersedes: z
    .string()
    .nullable()
    .describe(
      'SHA-256 (hex) of the signed document of the judgement before, which this judgement supersedes. Null for the first judgement.',
    ),
});
