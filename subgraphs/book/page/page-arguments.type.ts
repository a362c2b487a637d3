import { ArgsType, Field, InputType, Int } from 'type-graphql';
import type { Evidence } from '../../../schema/evidence.ts';
import { DateTimeScalar } from '../../../schema/scalars.ts';
import { EvidenceWord } from '../ledger/row-words.ts';
import type { RowFilter } from './row-scope.ts';

@InputType({ description: 'Which rows of a book: those of which all that is said here is true.' })
export class BookRowFilter implements RowFilter {
  @Field(() => DateTimeScalar, { nullable: true, description: 'Collected at this moment or later.' })
  from?: Date | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'Collected before this moment.' })
  to?: Date | null;
  @Field(() => EvidenceWord, { nullable: true, description: 'Resting on this.' })
  evidence?: Evidence | null;
  @Field(() => String, { nullable: true, description: 'Of this treasury intent.' })
  intentId?: string | null;
  @Field(() => String, { nullable: true, description: 'Of this task: one row at the most.' })
  taskId?: string | null;
  @Field(() => String, { nullable: true, description: 'Of this payment: several rows may share a transaction.' })
  paymentRef?: string | null;
  @Field(() => Int, { nullable: true, description: 'At this place of the book: one row at the most.' })
  seq?: number | null;
  @Field(() => String, {
    nullable: true,
    description: 'Only rows of calls that were made under the session with this delegation hash.',
  })
  delegationHash?: string | null;
}

@ArgsType()
export class BookPageArguments {
  @Field(() => Int, { nullable: true, description: 'Rows: 1 to 200, 50 where it is left out; more is clamped.' })
  limit?: number | null;
  @Field(() => Int, {
    nullable: true,
    description: 'Rows older than the one of this seq: the seq of the last entry gives the next page.',
  })
  before?: number | null;
  @Field(() => Int, {
    nullable: true,
    description: 'Rows newer than the one of this seq, those next to it; with `before` the newest between the two.',
  })
  after?: number | null;
  @Field(() => BookRowFilter, { nullable: true, description: 'Which rows; all where it is left out.' })
  filter?: BookRowFilter | null;
}
