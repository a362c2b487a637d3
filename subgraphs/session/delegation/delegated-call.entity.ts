import type { AtomicAmount } from '../../../schema/amount.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property } from '../../table.ts';

/** A call recorded under a session. By this table the key of a session finds its own receipts and rows, and no others. */
@Entity({ tableName: 'delegated_call' })
@Index({ name: 'delegated_call_session', properties: ['delegationHash'] })
export class DelegatedCall {
  @PrimaryKey({ type: 'text' })
  taskId!: string;
  @Property({ type: 'text' })
  delegationHash!: string;
  /** Agent whose book has the row of the call. Null if there is no row. */
  @Property({ type: 'integer', nullable: true })
  agentId!: number | null;
  /** Amount that the call adds to the spending of its session and of every session above it. */
  @Property({ type: AtomicAmountColumn })
  amountAtomic!: AtomicAmount;
}
