import { GraphQLJSONObject } from 'graphql-scalars';
import { Field, Int, ObjectType } from 'type-graphql';
import type { JsonObject } from '../../../schema/canonical-json.ts';

@ObjectType({ description: 'A receipt that was made for another agent: of no payment, and no amount.' })
export class HandedOff {
  @Field(() => String, { description: 'Of the child receipt.' }) taskId!: string;
  @Field(() => String, { description: 'Where anybody may look at it.' }) verifyUrl!: string;
  @Field(() => String, { description: 'Of which receipt it was made.' }) parentReceiptId!: string;
  @Field(() => Int, { description: 'Which agent may redeem it.' }) targetAgent!: number;
}

@ObjectType({ description: 'A claim that was closed, once and for ever.' })
export class Redeemed {
  @Field(() => String, { description: 'Of which receipt.' }) taskId!: string;
  @Field(() => Int, {
    nullable: true,
    description: 'On whose book its row stands since; null where it was handed to nobody.',
  })
  agentId!: number | null;
}

@ObjectType({ description: 'A call of a session below that was approved: the very same passes once, within its time.' })
export class ApprovedCall {
  @Field(() => String, { description: 'The request that was answered.' }) approvalId!: string;
  @Field(() => Int, { description: 'On whose book.' }) agentId!: number;
  @Field(() => String, { description: 'What the call asks for.' }) requestHash!: string;
}

@ObjectType({ description: 'What a signed act has come to.' })
export class SessionActResult {
  @Field(() => String, { description: '`handoff`, `read_private`, `redeem` or `approve`.' }) action!: string;
  @Field(() => String, { description: 'What it was done to.' }) resource!: string;
  @Field(() => String, { description: 'Under which session.' }) delegationHash!: string;
  @Field(() => HandedOff, { nullable: true, description: 'Of a `handoff`.' }) handedOff?: HandedOff | null;
  @Field(() => Redeemed, { nullable: true, description: 'Of a `redeem`.' }) redeemed?: Redeemed | null;
  @Field(() => ApprovedCall, { nullable: true, description: 'Of an `approve`.' }) approved?: ApprovedCall | null;
  @Field(() => GraphQLJSONObject, {
    nullable: true,
    description: 'What a `read_private` has read: {entries}, {format, document}, the receipt, or the session.',
  })
  read?: JsonObject | null;
}
