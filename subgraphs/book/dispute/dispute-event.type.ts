import { Field, Int, ObjectType } from 'type-graphql';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { ClaimType, DisputeOutcome, DisputeReason } from '../../../schema/dispute/reasons.ts';
import { ClaimTypeWord, DisputeOutcomeWord, DisputeReasonWord } from './dispute.entity.ts';

@ObjectType('DisputeJudged', { description: 'What was claimed of the row of an event, and what came of it.' })
export class ShownDispute {
  @Field(() => String, { description: 'Which dispute.' }) disputeId!: string;
  @Field(() => ClaimTypeWord, { description: 'What is claimed.' }) claimType!: ClaimType;
  @Field(() => DisputeOutcomeWord, { nullable: true, description: 'Null: open.' }) outcome!: DisputeOutcome | null;
  @Field(() => DisputeReasonWord, { description: 'Why.' }) reason!: DisputeReason;
  @Field(() => String, { description: 'SHA-256 of the signed document in canonical JSON.' }) verdictHash!: string;
  @Field(() => Int, { description: 'Number of this judgement of the dispute, from 1.' }) revision!: number;
  @Field(() => String, {
    nullable: true,
    description: 'SHA-256 of the signed document that this one supersedes. Null for the first one.',
  })
  supersedes!: string | null;
}

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
