import { Field, Int, ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import { AtomicAmountScalar } from '../../../schema/scalars.ts';
import { DelegatedSession } from './session.type.ts';

@ObjectType({ description: 'A session with its limits, and what has been spent under it and all below it.' })
export class SessionNode extends DelegatedSession {
  @Field(() => Int, { description: 'Levels below the first session of the page’s tree; 0 for that session itself.' })
  depth!: number;
  @Field(() => AtomicAmountScalar, { description: 'Cap in atomic USDC on what may be spent under it and below it.' })
  capAtomic!: AtomicAmount;
  @Field(() => AtomicAmountScalar, { description: 'Amount of recorded payments, in atomic USDC.' })
  spentAtomic!: AtomicAmount;
  @Field(() => Int, { description: 'Number of the newest payment in that: `sessionBurn` goes on `after` it.' })
  burnPosition!: number;
  @Field(() => AtomicAmountScalar, { description: 'Amount that payments in progress hold, in atomic USDC.' })
  heldAtomic!: AtomicAmount;
  @Field(() => AtomicAmountScalar, {
    description:
      'max(0, cap − spent − held), in atomic USDC. A payment must also fit within this value of each session above.',
  })
  remainingAtomic!: AtomicAmount;
  @Field(() => [String], { description: 'Ids of the models that may answer. Empty: any model.' })
  models!: readonly string[];
  @Field(() => [String], { description: 'Names of the paid endpoints that may be called. Empty: any endpoint.' })
  doors!: readonly string[];
}

@ObjectType({ description: 'A page of sessions.' })
export class SessionTreePage {
  @Field(() => [SessionNode], {
    description: 'For `sessionTree` parents before children, the root first. For `agentSessions` the newest first.',
  })
  sessions!: readonly SessionNode[];
  @Field(() => Boolean, { description: 'True if there are more sessions after this page.' }) truncated!: boolean;
  @Field(() => String, { nullable: true, description: '`cursor` of the next page; null where this is the last.' })
  nextCursor!: string | null;
}
