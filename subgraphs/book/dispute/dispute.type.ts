import { GraphQLJSONObject } from 'graphql-scalars';
import { Field, InputType, Int, ObjectType } from 'type-graphql';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { ClaimType } from '../../../schema/dispute/reasons.ts';
import { Dispute } from './dispute.entity.ts';
import { ClaimTypeWord } from './dispute-words.ts';

@InputType({ description: 'What is claimed of which row, and what speaks for it.' })
export class DisputeInput {
  @Field(() => String, { description: 'The task of the disputed row.' }) taskId!: string;
  @Field(() => ClaimTypeWord, { description: 'What is claimed.' }) claimType!: ClaimType;
  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description:
      'Kept and signed as it stands: of `wrong_model` {model, request {field, args}, salt}, of `double_charge` {task_id, request, salt, other_salt}.',
  })
  evidence?: JsonObject | null;
}

@ObjectType({ description: 'A dispute, and whether it was filed by this very request.' })
export class FiledDispute {
  @Field(() => Dispute, { description: 'As it is kept.' }) dispute!: Dispute;
  @Field(() => Boolean, { description: 'False: it was filed before, and this is what was decided then.' })
  filed!: boolean;
}

@ObjectType({ description: 'Disputes of rows of one book.' })
export class Disputes {
  @Field(() => Int, { description: 'Whose book.' }) agentId!: number;
  @Field(() => [Dispute], { description: 'Newest first.' }) disputes!: Dispute[];
}
