import { z } from 'zod';
import { claimTypes, type DisputeReason, disputeOutcomes, disputeReasons } from '../../schema/dispute/reasons.ts';
import { DisputeStatusNoun } from '../../schema/dispute/status.ts';
import { documents } from '../../schema/documents.ts';
import { wordList } from '../../schema/words.ts';
import { nameComponents } from '../answer-shapes.ts';

/* What the doors of disputes answer, as it looks on the wire. */

const Outcome = z.enum(wordList(disputeOutcomes));
const Reason = z.enum(Object.keys(disputeReasons) as [DisputeReason, ...DisputeReason[]]);

const Verdict = z
  .looseObject({
    schema: z.literal(documents.dispute_verdict),
    iss: z.string(),
    rule_version: z.int(),
    outcome: Outcome.optional().describe('Left out while it is open.'),
    reason: Reason,
    revision: z.int().optional().describe('Number of this judgement, from 1. Left out under rule versions 1 and 2.'),
    supersedes: z.string().optional().describe('SHA-256 of the signed document that this one supersedes.'),
    status_url: z
      .string()
      .optional()
      .describe('Public URL that names the latest judgement. Left out under rule versions 1 and 2.'),
    final: z.boolean().optional().describe('True for a refund, which no later verdict supersedes.'),
    decides_after: z
      .string()
      .optional()
      .describe('While open: the time after which it can be decided (RFC 3339, UTC).'),
    standing_task_id: z
      .string()
      .optional()
      .describe('Task of the charge that stands, if two were made for the same request.'),
    owed_back: z
      .object({ task_id: z.string(), amount: z.string() })
      .optional()
      .describe('For a refund: the charge that the issuer owes back, in atomic USDC.'),
    owed_by_winner: z
      .object({ agent_id: z.int(), amount: z.string() })
      .optional()
      .describe(
        'For a paid job whose output was not revealed: the price that its winner was paid, in atomic USDC. It is not a debt of the issuer.',
      ),
    facts: z
      .array(z.object({ name: z.string(), value: z.unknown(), from: z.string() }))
      .describe('By which it was decided, and where each comes from.'),
    moves_money: z.literal(false),
    means: z.string(),
    signature: z.object({ alg: z.literal('ES256'), kid: z.string(), value: z.string() }),
  })
  .describe('Signed whole, and with all that it takes to run the rule again: `npm run verify -- FILE`.');

const Dispute = z.object({
  dispute_id: z.string(),
  agent_id: z.int(),
  task_id: z.string().describe('Of the disputed row.'),
  seq: z.int().describe('Its place in the book.'),
  claim_type: z.enum(wordList(claimTypes)),
  evidence_hash: z.string().describe('SHA-256 of the canonical evidence: the same again is the same dispute.'),
  outcome: Outcome.nullable().describe('Null: open. No money moves by any of them.'),
  reason: Reason,
  position: z.int().describe('Of the event of the book that tells of it.'),
  filed_at: z.string(),
  judged_at: z.string(),
  revision: z
    .int()
    .describe('Number of the latest judgement, from 1. It grows when the dispute is judged again with another result.'),
  supersedes: z.string().nullable().describe('SHA-256 of the signed document that this one supersedes.'),
  final: z.boolean().describe('True for a refund. A later verdict may supersede any other outcome.'),
  decides_after: z
    .string()
    .nullable()
    .describe('Time after which an open dispute can be decided: file it again then. Null if none is known.'),
  standing_task_id: z
    .string()
    .nullable()
    .describe('Task of the charge that stands, if two were made for the same request. Null otherwise.'),
  status_url: z.string().describe('Public URL that names the latest judgement by its number and hash.'),
});

export const DisputeAnswer = Dispute.extend({ verdict: Verdict });

export const DisputesAnswer = z.object({
  agent_id: z.int(),
  disputes: z.array(Dispute).describe('Newest first, each without its document.'),
  next: z.string().nullable().describe('`before` of the next page. Null if there is none.'),
});

nameComponents({
  DisputeStatus: DisputeStatusNoun,
  DisputeSummary: Dispute,
  Dispute: DisputeAnswer,
  Disputes: DisputesAnswer,
  DisputeVerdict: Verdict,
});
