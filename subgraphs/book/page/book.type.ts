import { GraphQLJSONObject } from 'graphql-scalars';
import { Directive, Field, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import { BookRow } from '../ledger/row.entity.ts';

@ObjectType({ description: 'Sums over every row of the book that carries an amount, not over this page.' })
export class BookTotals {
  @Field(() => Int) count!: number;
  @Field(() => AtomicAmountScalar) usdcSum!: AtomicAmount;
  @Field(() => GraphQLJSONObject, { description: '{<rail>: {count, amount}}' }) byRail!: JsonObject;
}

@ObjectType()
export class AllowanceSignature {
  @Field(() => String) alg!: string;
  @Field(() => String) value!: string;
}

@ObjectType({
  description: 'The remaining allowance, signed over {agent_id, remaining, as_of}: to verify, not to spend.',
})
export class Allowance {
  @Field(() => Int) agentId!: number;
  @Field(() => AtomicAmountScalar, { nullable: true }) remaining!: AtomicAmount | null;
  @Field(() => DateTimeScalar) asOf!: Date;
  @Field(() => AllowanceSignature) signature!: AllowanceSignature;
}

@ObjectType({ description: 'A book: the newest rows, the budget, and sums over all of it.' })
export class Book {
  @Field(() => Int) agentId!: number;
  @Field(() => Int, { description: 'Rows on this page at the most.' }) limit!: number;
  @Field(() => [BookRow]) entries!: BookRow[];
  /** Up to 200 intents with 200 attempts each, kept at hand as text. */
  @Directive('@cost(weight: 2000)')
  @Field(() => GraphQLJSONObject, { description: 'Intents named on this page, by intent id.' })
  intents!: JsonObject;
  @Field(() => BookTotals) totals!: BookTotals;
  @Field(() => String, { description: 'Always `prepaid_ceiling`.' }) window!: string;
  @Field(() => AtomicAmountScalar, { nullable: true, description: 'Budget Y; null is unlimited.' })
  cap!: AtomicAmount | null;
  @Field(() => AtomicAmountScalar) spent!: AtomicAmount;
  @Field(() => AtomicAmountScalar, { nullable: true }) remaining!: AtomicAmount | null;
  @Field(() => Allowance) allowance!: Allowance;
}

@Directive('@key(fields: "taskId", resolvable: false)')
@ObjectType('Receipt')
export class ReceiptReference {
  @Field(() => String) taskId!: string;
}
