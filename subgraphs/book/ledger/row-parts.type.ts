import { Field, Int, ObjectType } from 'type-graphql';
import { DateTimeScalar } from '../../../schema/scalars.ts';
import { FulfillmentAuthorization, FulfillmentIntent, JobKindWord, OutputCommitment } from '../../fulfillment.type.ts';
import type { SettlementStatus } from '../../selling.ts';
import { SettlementStatusWord } from '../../words.ts';

/* What stands inside of a row's columns, by the shapes that the specification gives. */

@ObjectType({ description: 'What was delivered for a row; members that its form lacks are null.' })
export class Fulfillment {
  @Field(() => JobKindWord, { nullable: true, description: 'What kind of work.' }) jobKind!: string | null;
  @Field(() => String, { nullable: true, description: 'What it was about.' }) resource!: string | null;
  @Field(() => String, { nullable: true, description: 'The treasury intent that it names.' }) intentId!: string | null;
  @Field(() => Int, { nullable: true, description: 'Which attempt within that intent, from 0.' })
  attemptIndex!: number | null;
  @Field(() => OutputCommitment, { nullable: true, description: 'The hash of what was delivered.' })
  outputCommitment!: OutputCommitment | null;
  @Field(() => FulfillmentIntent, { nullable: true, description: 'In the envelope of a paid job alone.' })
  intent!: FulfillmentIntent | null;
  @Field(() => FulfillmentAuthorization, { nullable: true, description: 'In the envelope of a paid job alone.' })
  authorization!: FulfillmentAuthorization | null;
}

@ObjectType({ description: 'What moved a row on from RECORDED_BY_SETTLE to collected.' })
export class IngressReceipt {
  @Field(() => String, { nullable: true, description: '`network:transaction` in which the money was seen.' })
  ref!: string | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When it was seen.' }) confirmedAt!: string | null;
}

@ObjectType({ description: 'The payment of a row was sent again, once or, beyond 20 in an hour, several times.' })
export class BookReplay {
  @Field(() => DateTimeScalar, { description: 'When; of several the last time.' }) at!: string;
  @Field(() => DateTimeScalar, { nullable: true, description: 'Of several, the first time.' }) firstAt!: string | null;
  @Field(() => Int, { nullable: true, description: 'How many it stands for, where they are several.' })
  count!: number | null;
  @Field(() => SettlementStatusWord, { description: 'Always `idempotent_replay`.' })
  settlementStatus!: SettlementStatus;
  @Field(() => String, { nullable: true, description: 'The task whose row it is.' }) replayOf!: string | null;
}
