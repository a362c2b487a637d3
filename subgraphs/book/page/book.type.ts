import { Directive, Field, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import {
  AllowanceNoun,
  AllowanceSignatureNoun,
  BookNoun,
  BookTotalsNoun,
  IntentAttemptNoun,
  IntentSummaryNoun,
} from '../../../schema/book/book-page.ts';
import { AtomicAmountScalar } from '../../../schema/scalars.ts';
import { membersOf, objectType, showMembers } from '../../graph-type.ts';
import { BookRow } from '../ledger/row.entity.ts';

@ObjectType({ description: 'What rows of one rail came to.' })
export class RailTotal {
  @Field(() => String, { description: 'What was paid with, such as `usdc`.' }) rail!: string;
  @Field(() => Int, { description: 'Rows that carry an amount.' }) count!: number;
  @Field(() => AtomicAmountScalar, { description: 'Their sum, in atomic units of the rail.' }) amount!: AtomicAmount;
}

@ObjectType({ description: 'Sums over every row of the book that carries an amount, not over this page.' })
export class BookTotals extends membersOf(BookTotalsNoun) {
  @Directive('@listSize(assumedSize: 4)')
  @Field(() => [RailTotal], { description: 'The same for each rail: their units are not the same.' })
  byRail!: RailTotal[];
}
showMembers(BookTotals, BookTotalsNoun);

objectType('IntentAttempt', 'One attempt at a treasury intent.', IntentAttemptNoun);
export const IntentSummary = objectType(
  'IntentSummary',
  'What a treasury intent came to on this book.',
  IntentSummaryNoun,
);
export type IntentSummary = InstanceType<typeof IntentSummary>;

objectType('AllowanceSignature', 'A signature over canonical JSON.', AllowanceSignatureNoun);
export const Allowance = objectType(
  'Allowance',
  'The remaining allowance, signed over {agent_id, remaining, as_of}: to verify, not to spend.',
  AllowanceNoun,
);
export type Allowance = InstanceType<typeof Allowance>;

@Directive('@key(fields: "agentId")')
@ObjectType({ description: 'A book: its rows, the budget, and sums over all of it.' })
export class Book extends membersOf(BookNoun) {
  @Field(() => [BookRow], { description: 'The rows of the page that was asked for, newest first.' })
  entries!: BookRow[];
  @Field(() => [IntentSummary], { description: 'Those that rows of this page name.' })
  intents!: IntentSummary[];
}
showMembers(Book, BookNoun);

@Directive('@key(fields: "taskId")')
@ObjectType('Receipt', { description: 'A signed spend receipt: one leaf of the append-only log.' })
export class ReceiptReference {
  @Field(() => String, { description: 'The task that it is of.' }) taskId!: string;
}
