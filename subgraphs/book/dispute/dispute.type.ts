import { GraphQLJSONObject } from 'graphql-scalars';
import { Field, InputType, Int, ObjectType } from 'type-graphql';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { ClaimType } from '../../../schema/dispute/reasons.ts';
import { DisputeStatusNoun } from '../../../schema/dispute/status.ts';
import type { MembersOf } from '../../../schema/noun.ts';
import { showMembers } from '../../graph-type.ts';
import { ClaimTypeWord, Dispute } from './dispute.entity.ts';

@InputType({ description: 'What is claimed of which row, and what speaks for it.' })
export class DisputeInput {
  @Field(() => String, { description: 'The task of the disputed row.' }) taskId!: string;
  @Field(() => ClaimTypeWord, { description: 'What is claimed.' }) claimType!: ClaimType;
  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description:
      'Stored and signed unchanged, up to 16 KiB. For `wrong_model`: {requested_model, request {field, args}, salt}. For `double_charge`: {task_id, request, salt, other_salt}. For any: {note}. Other members are refused by name.',
  })
  evidence?: JsonObject | null;
}

@ObjectType({ description: 'A dispute, and whether it was filed by this very request.' })
export class FiledDispute {
  @Field(() => Dispute, { description: 'As it is kept.' }) dispute!: Dispute;
  @Field(() => Boolean, {
    description: 'False if the same dispute was filed before. It is judged again then, unless it is a refund.',
  })
  filed!: boolean;
}

const Status = class {} as new () => MembersOf<typeof DisputeStatusNoun>;

@ObjectType({ description: 'The latest judgement of a dispute, without what was claimed or decided.' })
export class DisputeStatus extends Status {}
showMembers(DisputeStatus, DisputeStatusNoun);

@ObjectType({ description: 'Disputes of rows of one book.' })
export class Disputes {
  @Field(() => Int, { description: 'Whose book.' }) agentId!: number;
  @Field(() => [Dispute], { description: 'Newest first.' }) disputes!: Dispute[];
  @Field(() => String, { nullable: true, description: '`before` of the next page. Null if there is none.' }) next!:
    | string
    | null;
}
