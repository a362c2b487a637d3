import { Directive, Field, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import type { Evidence } from '../../../schema/evidence.ts';
import { lineageLimits } from '../../../schema/limits.ts';
import { AtomicAmountScalar, DateTimeScalar } from '../../../schema/scalars.ts';
import { EvidenceWord } from '../ledger/row-words.ts';

/** Of what is on another book nothing but its task is told. */
const here = 'Null if the row is on another book.';

@ObjectType({ description: 'A row of a book, as far as its lineage shows it; `Book.row` has all of it.' })
export class LineageRow {
  @Field(() => String, { description: 'The call that it is of.' }) taskId!: string;
  @Field(() => Boolean, {
    description:
      'True if the row stands on another book, as the parent of a redeemed hand-off does; only its task id is shown. False for a row of this book, and for a parent that is a row of no book.',
  })
  onOtherBook!: boolean;
  @Field(() => Int, { nullable: true, description: `Sequence number in the book. ${here}` }) seq!: number | null;
  @Field(() => Int, { description: 'How many steps it is from the row that was asked for, up or down.' })
  depth!: number;
  @Field(() => String, { nullable: true, description: 'The row it follows from; null where it follows from none.' })
  parentRef!: string | null;
  @Field(() => EvidenceWord, { nullable: true, description: `Evidence that the row rests on. ${here}` })
  evidence!: Evidence | null;
  @Field(() => Boolean, { nullable: true, description: `Whether the payment was collected. ${here}` })
  collected!: boolean | null;
  @Field(() => DateTimeScalar, {
    nullable: true,
    description: `Time the payment was collected or, if it was not, time the row was recorded (RFC 3339, UTC). ${here}`,
  })
  collectedAt!: Date | null;
  @Field(() => AtomicAmountScalar, { nullable: true, description: 'Atomic units of the rail.' })
  amount!: AtomicAmount | null;
  @Field(() => String, { nullable: true, description: 'What was paid with: `usdc`.' }) rail!: string | null;
  @Field(() => String, { nullable: true, description: '`network:transaction`.' }) paymentRef!: string | null;
  @Field(() => String, { nullable: true, description: 'The model that the hub was asked for.' })
  model!: string | null;
  @Field(() => String, { nullable: true, description: 'The hub that answered.' }) hub!: string | null;
  @Field(() => String, { nullable: true, description: 'The treasury intent it names.' }) intentId!: string | null;
  @Field(() => Int, { nullable: true, description: 'Its attempt, from 0.' }) attemptIndex!: number | null;
}

@ObjectType({ description: 'What a row of a book follows from, and what follows from it.' })
export class Lineage {
  @Field(() => Int, { description: 'Whose book.' }) agentId!: number;
  @Field(() => LineageRow, { description: 'The row that was asked for.' }) self!: LineageRow;
  @Field(() => LineageRow, {
    nullable: true,
    description:
      'Root of the chain of parents; this row itself if it has no parent. Null if the root is beyond the limit of steps or on another book.',
  })
  root!: LineageRow | null;
  @Directive(`@listSize(assumedSize: ${lineageLimits.steps_max})`)
  @Field(() => [LineageRow], {
    description: `Ancestors by parentRef, nearest first; at most ${lineageLimits.steps_max}. The last one may be on another book.`,
  })
  ancestors!: LineageRow[];
  @Field(() => [LineageRow], { description: 'What follows from it, in the order of the book, page by page.' })
  descendants!: LineageRow[];
  @Field(() => Boolean, {
    description: `Whether it is followed no further: ${lineageLimits.steps_max} steps up and down, the first ${lineageLimits.descendants_max} descendants.`,
  })
  truncated!: boolean;
  @Field(() => Int, {
    nullable: true,
    description: '`after` of the next page of descendants; null where there is none.',
  })
  next!: number | null;
}
