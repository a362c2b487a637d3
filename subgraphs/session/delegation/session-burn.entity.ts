import { Field, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import { AtomicAmountScalar } from '../../../schema/scalars.ts';
import { AtomicAmountColumn, Entity, PrimaryKey, Property } from '../../table.ts';

/** One for each session that it counts on: so each follows its own, without a gap, and learns of no others. */
@ObjectType({ description: 'A payment that was recorded under a session, or under one below it.' })
@Entity({ tableName: 'session_burn' })
export class SessionBurn {
  @PrimaryKey({ type: 'text' })
  delegationHash!: string;
  @Field(() => Int, { description: 'Its place among those of the session that is followed: from 1, without a gap.' })
  @PrimaryKey({ type: 'bigint' })
  position!: number;
  @Field(() => String, { description: 'Of its receipt.' })
  @Property({ type: 'text' })
  taskId!: string;
  @Field(() => String, { description: 'The session that it was paid under.' })
  @Property({ type: 'text' })
  paidUnder!: string;
  @Field(() => AtomicAmountScalar, { description: 'What it counts on that session and on each over it.' })
  @Property({ type: AtomicAmountColumn })
  amountAtomic!: AtomicAmount;
  @Field(() => AtomicAmountScalar, { description: 'What is recorded of the session that is followed, with this.' })
  @Property({ type: AtomicAmountColumn })
  spentAtomic!: AtomicAmount;
  /** Read with it: never changes. */
  @Field(() => [String], { description: 'From the session that is followed down to the one that it was paid under.' })
  path!: readonly string[];
}
