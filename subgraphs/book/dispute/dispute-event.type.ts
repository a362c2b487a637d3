import type { JsonObject } from '../../../schema/canonical-json.ts';
import { DisputeJudgedNoun } from '../../../schema/dispute/dispute.ts';
import type { ClaimType, DisputeOutcome, DisputeReason } from '../../../schema/dispute/reasons.ts';
import { objectType } from '../../graph-type.ts';

export const ShownDispute = objectType(
  'DisputeJudged',
  'What was claimed of the row of an event, and what came of it.',
  DisputeJudgedNoun,
);
export type ShownDispute = InstanceType<typeof ShownDispute>;

/** The body of a `dispute` event, as ./file.ts has made it. */
export function shownDispute(body: JsonObject): ShownDispute {
  return {
    disputeId: String(body.dispute_id),
    claimType: body.claim_type as ClaimType,
    outcome: (body.outcome ?? null) as DisputeOutcome | null,
    reason: body.reason as DisputeReason,
    verdictHash: String(body.verdict_hash),
    revision: Number(body.revision ?? 1),
    supersedes: (body.supersedes ?? null) as string | null,
  };
}
