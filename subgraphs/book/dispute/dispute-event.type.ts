import { Field, ObjectType } from 'type-graphql';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { ClaimType, DisputeOutcome, DisputeReason } from '../../../schema/dispute/reasons.ts';
import { ClaimTypeWord, DisputeOutcomeWord, DisputeReasonWord } from './dispute-words.ts';

@ObjectType('DisputeJudged', { description: 'What was claimed of the row of an event, and what came of it.' })
export class ShownDispute {
  @Field(() => String, { description: 'Which dispute.' }) disputeId!: string;
  @Field(() => ClaimTypeWord, { description: 'What is claimed.' }) claimType!: ClaimType;
  @Field(() => DisputeOutcomeWord, { nullable: true, description: 'Null: open.' }) outcome!: DisputeOutcome | null;
  @Field(() => DisputeReasonWord, { description: 'Why.' }) reason!: DisputeReason;
  @Field(() => String, { description: 'SHA-256 of the signed document in canonical JSON.' }) verdictHash!: string;
}

/** The body of a `dispute` event, as ./file.ts has made it. */
export function shownDispute(body: JsonObject): ShownDispute {
  return {
    disputeId: String(body.dispute_id),
    claimType: body.claim_type as ClaimType,
    outcome: (body.outcome ?? null) as DisputeOutcome | null,
    reason: body.reason as DisputeReason,
    verdictHash: String(body.verdict_hash),
  };
}
