import { z } from 'zod';
import { DisputeNoun, DisputeReasonMember, DisputeStatusNoun, DisputesNoun } from '../../schema/dispute/dispute.ts';
import { documents } from '../../schema/documents.ts';
import { nameComponents } from '../answer-shapes.ts';

/* The signed document of a dispute, as it looks on the wire. */

const Verdict = z
  .looseObject({
    schema: z.literal(documents.dispute_verdict),
    iss: z.string(),
    rule_version: z.int(),
    outcome: DisputeNoun.shape.outcome.unwrap().optional().describe('Left out while the dispute is open.'),
    reason: DisputeReasonMember,
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

export const DisputeAnswer = DisputeNoun.extend({ verdict: Verdict });

nameComponents({
  DisputeStatus: DisputeStatusNoun,
  DisputeSummary: DisputeNoun,
  Dispute: DisputeAnswer,
  Disputes: DisputesNoun,
  DisputeVerdict: Verdict,
});
