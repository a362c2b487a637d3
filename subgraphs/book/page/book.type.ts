import { GraphQLJSONObject } from 'graphql-scalars';
import { Directive, Field, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { Evidence } from '../../../schema/evidence.ts';
import { alertLimits, limits } from '../../../schema/limits.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import { graphEnum } from '../../graph-enum.ts';
import { ShownAlert } from '../alerts/alert.type.ts';
import { BookRow } from '../ledger/row.entity.ts';
import { EvidenceWord } from '../ledger/row-words.ts';

@ObjectType({ description: 'What rows of one rail came to.' })
export class RailTotal {
  @Field(() => String, { description: 'What was paid with, such as `usdc`.' }) rail!: string;
  @Field(() => Int, { description: 'Rows that carry an amount.' }) count!: number;
  @Field(() => AtomicAmountScalar, { description: 'Their sum, in atomic units of the rail.' }) amount!: AtomicAmount;
}

@ObjectType({ description: 'Sums over every row of the book that carries an amount, not over this page.' })
export class BookTotals {
  @Field(() => Int, { description: 'Rows that carry an amount.' }) count!: number;
  @Field(() => AtomicAmountScalar, { description: 'What was paid in USDC.' }) usdcSum!: AtomicAmount;
  @Field(() => AtomicAmountScalar, {
    description:
      'Part of usdcSum whose transfer has not been observed yet (rows with evidence RECORDED_BY_SETTLE), in atomic USDC (6 decimals). It is later collected, or removed from both sums.',
  })
  pendingUsdcSum!: AtomicAmount;
  @Directive('@listSize(assumedSize: 4)')
  @Field(() => [RailTotal], { description: 'The same for each rail: their units are not the same.' })
  byRail!: RailTotal[];
  @Field(() => GraphQLJSONObject, { description: '`byRail` as REST shows it: {<rail>: {count, amount}}.' })
  byRailDocument!: JsonObject;
}

@ObjectType({ description: 'One attempt at a treasury intent.' })
export class IntentAttempt {
  @Field(() => String, { description: 'The call.' }) taskId!: string;
  @Field(() => Int, { nullable: true, description: 'As the call numbered it, from 0.' }) attemptIndex!: number | null;
  @Field(() => EvidenceWord, { description: 'What its row rests on.' }) evidence!: Evidence;
  @Field(() => Boolean, { description: 'Whether its money was collected.' }) collected!: boolean;
}

@ObjectType({ description: 'What a treasury intent came to on this book.' })
export class IntentSummary {
  @Field(() => String, { description: 'As calls name it.' }) intentId!: string;
  @Directive('@listSize(assumedSize: 20)')
  @Field(() => [IntentAttempt], { description: 'The newest 200 attempts, oldest first.' })
  attempts!: IntentAttempt[];
  @Field(() => Boolean, { description: 'True if the intent has more than the 200 attempts shown.' })
  attemptsTruncated!: boolean;
  @Field(() => Int, { description: 'Of all its attempts, those that were collected.' }) collectedCount!: number;
  @Field(() => Int, { description: 'Of all its attempts, those that the book refused.' }) blockedCount!: number;
}

@ObjectType({ description: 'A signature over canonical JSON.' })
export class AllowanceSignature {
  @Field(() => String, { description: 'Its algorithm, as JOSE names it.' }) alg!: string;
  @Field(() => String, { description: 'The signature, base64url.' }) value!: string;
}

@ObjectType({
  description: 'The remaining allowance, signed over {agent_id, remaining, as_of}: to verify, not to spend.',
})
export class Allowance {
  @Field(() => Int, { description: 'Whose book.' }) agentId!: number;
  @Field(() => AtomicAmountScalar, { nullable: true, description: 'What the budget leaves; null is unlimited.' })
  remaining!: AtomicAmount | null;
  @Field(() => DateTimeScalar, { description: 'Of which moment.' }) asOf!: Date;
  @Field(() => AllowanceSignature, { description: 'By the issuer.' }) signature!: AllowanceSignature;
}

export const BudgetWindowWord = graphEnum<'prepaid_ceiling'>('BudgetWindow', 'Over what a budget holds.', {
  prepaid_ceiling: 'Over all that was ever collected.',
});

export const TotalsCoverWord = graphEnum<'whole_book'>('TotalsCover', 'Rows that the totals of a book cover.', {
  whole_book: 'All rows of the book, regardless of the filter.',
});

const READ = limits.matching_rows_read_max.toLocaleString('en');

@Directive('@key(fields: "agentId")')
@ObjectType({ description: 'A book: its rows, the budget, and sums over all of it.' })
export class Book {
  @Field(() => Int, { description: 'Whose book.' }) agentId!: number;
  @Field(() => Int, { description: 'Rows on this page at the most.' }) limit!: number;
  @Field(() => [BookRow], { description: 'The rows of the page that was asked for, newest first.' })
  entries!: BookRow[];
  @Field(() => [IntentSummary], { description: 'Those that rows of this page name.' })
  intents!: IntentSummary[];
  /** Up to 200 intents with 200 attempts each, kept at hand as text. */
  @Directive('@cost(weight: 2000)')
  @Field(() => GraphQLJSONObject, { description: '`intents` as REST shows them: by intent id.' })
  intentsDocument!: JsonObject;
  @Field(() => BookTotals, { description: 'Sums over the whole book.' }) totals!: BookTotals;
  @Field(() => TotalsCoverWord, {
    description: 'Rows that `totals` covers: always `whole_book`, all rows of the book regardless of the filter.',
  })
  totalsCover!: 'whole_book';
  @Directive('@cost(weight: 50)')
  @Field(() => Int, {
    nullable: true,
    description: `Number of rows of the book that match the filter, including rows that are not in this response. Null if counting them would require reading more than ${READ} rows.`,
  })
  matchingCount!: number | null;
  @Directive('@cost(weight: 50)')
  @Field(() => AtomicAmountScalar, {
    nullable: true,
    description:
      'Sum of the amounts of all matching rows on the rail usdc, in atomic USDC (6 decimals). Rows on other rails are counted but not summed. Null if matchingCount is null.',
  })
  matchingUsdcSum!: AtomicAmount | null;
  @Field(() => BudgetWindowWord, { description: 'Always `prepaid_ceiling`.' }) window!: 'prepaid_ceiling';
  @Field(() => AtomicAmountScalar, { nullable: true, description: 'Budget Y; null is unlimited.' })
  cap!: AtomicAmount | null;
  @Field(() => AtomicAmountScalar, {
    description:
      'Sum of the collected amounts under the budget, in atomic USDC (6 decimals). Amounts in `pending` are not included.',
  })
  spent!: AtomicAmount;
  @Field(() => AtomicAmountScalar, {
    nullable: true,
    description: 'max(0, cap - spent), in atomic USDC (6 decimals). Null if the budget is unlimited.',
  })
  remaining!: AtomicAmount | null;
  @Field(() => AtomicAmountScalar, {
    description:
      'Amounts that the budget and the caps count and that are not collected yet, in atomic USDC (6 decimals): rows with evidence RECORDED_BY_SETTLE, calls in progress, and both payments for a job whose first payment has settled. Each is later collected, or no longer counted.',
  })
  pending!: AtomicAmount;
  @Field(() => AtomicAmountScalar, {
    nullable: true,
    description:
      'max(0, remaining - pending), in atomic USDC (6 decimals): what a new call may spend under the budget now. Null if the budget is unlimited.',
  })
  available!: AtomicAmount | null;
  @Field(() => Allowance, { description: 'The same, signed.' }) allowance!: Allowance;
  @Field(() => DateTimeScalar, {
    nullable: true,
    description:
      'The UTC clock hour in which the budget ends at the rate of the last hour; null where nobody can tell.',
  })
  budgetEndsAt!: Date | null;
  @Directive(`@listSize(assumedSize: ${alertLimits.alerts_shown_max})`)
  @Field(() => [ShownAlert], { description: `Its newest ${alertLimits.alerts_shown_max}, newest first.` })
  alerts!: ShownAlert[];
}

@Directive('@key(fields: "taskId")')
@ObjectType('Receipt', { description: 'A signed spend receipt: one leaf of the append-only log.' })
export class ReceiptReference {
  @Field(() => String, { description: 'The task that it is of.' }) taskId!: string;
}
