import { Field, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import { AtomicAmountScalar } from '../../../schema/scalars.ts';
import { DelegatedSession } from './session.type.ts';

@ObjectType({ description: 'A session of a tree, with what has been spent under it and all below it.' })
export class SessionNode extends DelegatedSession {
  @Field(() => Int, { description: '0: the root of the tree.' }) depth!: number;
  @Field(() => AtomicAmountScalar, { description: 'What may be spent under it and below it.' })
  capAtomic!: AtomicAmount;
  @Field(() => AtomicAmountScalar, { description: 'What is recorded.' }) spentAtomic!: AtomicAmount;
  @Field(() => Int, { description: 'Number of the newest payment in that: `sessionBurn` goes on `after` it.' })
  burnPosition!: number;
  @Field(() => AtomicAmountScalar, { description: 'What payments hold that are under way.' }) heldAtomic!: AtomicAmount;
  @Field(() => AtomicAmountScalar, { description: 'What no payment has taken yet.' }) remainingAtomic!: AtomicAmount;
  @Field(() => [String], { description: 'Ids of the models that may answer; empty: any.' }) models!: readonly string[];
  @Field(() => [String], { description: 'Names of the paid doors; empty: any.' }) doors!: readonly string[];
}

@ObjectType({ description: 'A page of a tree of sessions, parents before children.' })
export class SessionTreePage {
  @Field(() => [SessionNode], { description: 'The first page begins with the root of the tree.' })
  sessions!: readonly SessionNode[];
  @Field(() => Boolean, { description: 'Whether the tree is longer than up to here.' }) truncated!: boolean;
  @Field(() => String, { nullable: true, description: '`cursor` of the next page; null where this is the last.' })
  nextCursor!: string | null;
}
