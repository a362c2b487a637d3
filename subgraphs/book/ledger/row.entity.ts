import { Entity, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { GraphQLDateTimeISO, GraphQLJSONObject } from 'graphql-scalars';
import { Field, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { ArrivalStatus, Evidence } from '../../../schema/evidence.ts';
import { AtomicAmountScalar } from '../../../schema/scalars.ts';
import { AtomicAmountColumn } from '../../columns.ts';

@ObjectType({ description: 'What was paid, over which rail.' })
export class RowPayment {
  @Field(() => String, { nullable: true }) ref!: string | null;
  @Field(() => String, { nullable: true }) rail!: string | null;
  @Field(() => AtomicAmountScalar, { nullable: true }) amount!: AtomicAmount | null;
}

@ObjectType({ description: 'Which model answered, and where.' })
export class RowRoute {
  @Field(() => String, { nullable: true }) model!: string | null;
  @Field(() => String, { nullable: true }) hub!: string | null;
}

/**
 * One row of a book. Its birth facts never change and are bound by `rowHash`, with its seq and the row before it;
 * evidence, arrival, replay count and omission are the projection of its events.
 */
@ObjectType({ description: 'One row of a book.' })
@Entity({ tableName: 'book_row' })
@Unique({ name: 'book_row_task', properties: ['agentId', 'taskId'] })
@Unique({ name: 'book_row_payment', properties: ['agentId', 'paymentRef', 'transferIndex'] })
@Index({ name: 'book_row_task_id', properties: ['taskId'] })
@Index({ name: 'book_row_intent', properties: ['agentId', 'intentId'] })
export class BookRow {
  @Field(() => Int)
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  @Field(() => Int)
  @PrimaryKey({ type: 'integer', autoincrement: false })
  seq!: number;
  @Field(() => String)
  @Property({ type: 'text' })
  taskId!: string;
  @Field(() => String)
  @Property({ type: 'text' })
  evidence!: Evidence;
  @Field(() => Boolean)
  @Property({ type: 'boolean' })
  collected!: boolean;
  @Property({ type: 'text', nullable: true })
  paymentRef!: string | null;
  @Property({ type: 'integer', nullable: true })
  transferIndex!: number | null;
  @Property({ type: 'text', nullable: true })
  rail!: string | null;
  @Property({ type: AtomicAmountColumn, nullable: true })
  amount!: AtomicAmount | null;
  @Field(() => GraphQLDateTimeISO)
  @Property({ type: 'Date', columnType: 'timestamptz' })
  collectedAt!: Date;
  @Property({ type: 'text', nullable: true })
  model!: string | null;
  @Property({ type: 'text', nullable: true })
  hub!: string | null;
  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  intentId!: string | null;
  @Field(() => Int, { nullable: true })
  @Property({ type: 'integer', nullable: true })
  attemptIndex!: number | null;
  @Field(() => String, { nullable: true, description: 'On-chain payer bound at settle; survives session rotation.' })
  @Property({ type: 'text', nullable: true })
  payerWallet!: string | null;
  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  settledBy!: string | null;
  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  parentRef!: string | null;
  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  recordedBy!: string | null;
  @Field(() => GraphQLJSONObject, { nullable: true })
  @Property({ type: 'json', nullable: true })
  fulfillment!: JsonObject | null;
  /** Birth facts of rows that were blocked, claimed as inflow and the like: policy_code, bucket, reason … */
  @Property({ type: 'json', defaultRaw: `'{}'` })
  facts!: JsonObject;
  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  arrivalStatus!: ArrivalStatus | null;
  @Field(() => String, { nullable: true })
  @Property({ type: 'text', nullable: true })
  omissionRule!: string | null;
  @Field(() => GraphQLJSONObject, { nullable: true })
  @Property({ type: 'json', nullable: true })
  ingressReceipt!: JsonObject | null;
  @Field(() => Int)
  @Property({ type: 'integer', default: 0 })
  replayCount!: number;
  @Field(() => String)
  @Property({ type: 'text' })
  prevRowHash!: string;
  @Field(() => String)
  @Property({ type: 'text' })
  rowHash!: string;

  @Field(() => RowPayment)
  get payment(): RowPayment {
    return { ref: this.paymentRef, rail: this.rail, amount: this.amount };
  }

  @Field(() => RowRoute)
  get route(): RowRoute {
    return { model: this.model, hub: this.hub };
  }
}
