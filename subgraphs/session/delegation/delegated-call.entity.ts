import type { AtomicAmount } from '../../../schema/amount.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property } from '../../table.ts';

/** A call recorded under a session. The session key finds only its own receipts and rows by it. */
@Entity({ tableName: 'delegated_call' })
@Index({ name: 'delegated_call_session', properties: ['delegationHash'] })
export class DelegatedCall {
  @PrimaryKey({ type: 'text' })
  taskId!: string;
  @Property({ type: 'text' })
  delegationHash!: string;
  /** Book of its row. Null if there is none. */
  @Property({ type: 'integer', nullable: true })
  agentId!: number | null;
  /** Amount that it adds to every session above it. */
  @Property({ type: AtomicAmountColumn })
  amountAtomic!: AtomicAmount;
}
