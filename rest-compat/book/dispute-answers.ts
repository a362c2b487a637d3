import { z } from 'zod';
import { claimTypes, type DisputeReason, disputeOutcomes, disputeReasons } from '../../schema/dispute/reasons.ts';
import { documents } from '../../schema/documents.ts';
import { nameComponents } from '../answer-shapes.ts';

/* What the doors of disputes answer, as it looks on the wire. */

const Outcome = z.enum(disputeOutcomes);
const Reason = z.enum(Object.keys(disputeReasons) as [DisputeReason, ...DisputeReason[]]);

const Verdict = z
  .looseObject({
    schema: z.literal(documents.dispute_verdict),
    iss: z.string(),
    rule_version: z.int(),
    outcome: Outcome.optional().describe('Left out while it is open.'),
    reason: Reason,
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
  claim_type: z.enum(claimTypes),
  evidence_hash: z.string().describe('SHA-256 of the canonical evidence: the same again is the same dispute.'),
  outcome: Outcome.nullable().describe('Null: open. No money moves by any of them.'),
  reason: Reason,
  position: z.int().describe('Of the event of the book that tells of it.'),
  filed_at: z.string(),
  judged_at: z.string(),
});

export const DisputeAnswer = Dispute.extend({ verdict: Verdict });

export const DisputesAnswer = z.object({
  agent_id: z.int(),
  disputes: z.array(Dispute).describe('Newest first, each without its document.'),
});

nameComponents({ DisputeSummary: Dispute, Dispute: DisputeAnswer, Disputes: DisputesAnswer, DisputeVerdict: Verdict });
