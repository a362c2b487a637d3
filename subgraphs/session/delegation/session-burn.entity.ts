import { ObjectType } from 'type-graphql';
import type { AtomicAmount } from '../../../schema/amount.ts';
import { SessionBurnNoun } from '../../../schema/session/delegated-session.ts';
import { showMembers } from '../../graph-type.ts';
import { AtomicAmountColumn, Entity, PrimaryKey, Property } from '../../table.ts';

/**
 * A payment, with one row for each session that it counts for. A subscriber to a session thus receives all payments without gaps, and
 * learns nothing of other sessions.
 */
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
  /** Ids from the session of the row down to `paidUnder`. Not a column: it is read from that session, whose path never changes. */
  path!: readonly string[];
}
showMembers(SessionBurn, SessionBurnNoun);
