import { ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import { SessionBurnNoun } from '../../../schema/session/delegated-session.ts';
import { showMembers } from '../../graph-type.ts';
import { AtomicAmountColumn, Entity, PrimaryKey, Property } from '../../table.ts';

/** One row per session that the payment counts for, so that each can be followed without gaps and reveals no others. */
@ObjectType({ description: 'A payment that was recorded under a session, or under one below it.' })
@Entity({ tableName: 'session_burn' })
export class SessionBurn {
  @PrimaryKey({ type: 'text' })
  delegationHash!: string;
  @PrimaryKey({ type: 'bigint' })
  position!: number;
  @Property({ type: 'text' })
  taskId!: string;
  @Property({ type: 'text' })
  paidUnder!: string;
  @Property({ type: AtomicAmountColumn })
  amountAtomic!: AtomicAmount;
  @Property({ type: AtomicAmountColumn })
  spentAtomic!: AtomicAmount;
  /** Read with it. It never changes. */
  path!: readonly string[];
}
showMembers(SessionBurn, SessionBurnNoun);
