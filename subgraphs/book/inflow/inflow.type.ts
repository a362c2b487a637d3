import { GraphQLJSONObject } from 'graphql-scalars';
import { Field, InputType, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { AtomicAmountScalar } from '../../../schema/scalars.ts';
import { BookRow } from '../ledger/row.entity.ts';

@InputType({ description: 'What is set aside: a claim, and no payment.' })
export class InflowInput {
  @Field(() => AtomicAmountScalar, { description: 'Atomic USDC; in no total, cap or budget.' })
  allocation!: AtomicAmount;
  @Field(() => String, { nullable: true, description: 'What the money is for; `patron` where it is left out.' })
  bucket?: string | null;
  @Field(() => String, { nullable: true, description: "An id of the caller's own, once for ever; or one is made." })
  taskId?: string | null;
  @Field(() => String, { nullable: true, description: 'A model that it is meant for.' }) model?: string | null;
  @Field(() => String, { nullable: true, description: 'A hub that it is meant for.' }) hub?: string | null;
  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description:
      'Signed beforehand by the wallet: {iss, agent_id, bucket, allocation, task_id?, signed_at, signature}. Serves once.',
  })
  inflowClaim?: JsonObject | null;
}

@InputType({ description: 'What is said anew of an inflow, or of an earlier correction of it.' })
export class InflowCorrectionInput {
  @Field(() => String, { description: 'The task of the row that is corrected.' }) taskId!: string;
  @Field(() => String, { description: 'Why, in a sentence.' }) reason!: string;
  @Field(() => String, { nullable: true, description: 'As it was where it is left out.' }) bucket?: string | null;
  @Field(() => AtomicAmountScalar, { nullable: true, description: 'As it was where it is left out.' })
  allocation?: AtomicAmount | null;
  @Field(() => [String], {
    nullable: true,
    description:
      'Task ids of the fork branches that this correction merges: 1 to 16, and at least two different branches counting `taskId`.',
  })
  merges?: string[] | null;
  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description: 'Any object, up to 4 KiB; one with a `signature` is a correction that the wallet signed beforehand.',
  })
  correction?: JsonObject | null;
}

@ObjectType({ description: 'An inflow and what was appended to correct it.' })
export class CorrectedInflow {
  @Field(() => BookRow, { description: 'The inflow itself, with all of its corrections.' }) row!: BookRow;
  @Field(() => BookRow, { description: 'The row of this correction.' }) correction!: BookRow;
  @Field(() => Boolean, {
    description:
      'True if the same correction of the same row had already been recorded. The existing row is returned and no row is added.',
  })
  idempotentReplay!: boolean;
}
